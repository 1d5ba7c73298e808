// RUN: fuse-opt %s --fuseops-expand-quantized --split-input-file --verify-diagnostics

fuseops.fusible @f(%x: !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row>, %w: tensor<2x8xbf16>) -> tensor<4x2xbf16>
forward {
  // expected-error @below {{'fuseops.linear' op has no lowering for quantized operands}}
  %y = fuseops.linear %x, %w : (!fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row>, tensor<2x8xbf16>) -> tensor<4x2xbf16>
  fuseops.return %y : tensor<4x2xbf16>
}
