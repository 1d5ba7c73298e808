// RUN: fuse-opt %s --mlir-disable-threading --fuseops-quantize=recipe=block --remarks-filter=fuseops-quantize --verify-diagnostics -o %t

fuseops.fusible @main(%x: tensor<?x32xbf16>, %w: tensor<32x32xbf16>) -> tensor<?x32xbf16>
forward {
  // expected-remark @below {{[Passed] Quantize | Category:fuseops-quantize | Reason="fuseops.linear multiplies f8E4M3FN block<1x128> and f8E4M3FN block<128x128>"}}
  %0 = fuseops.linear %x, %w : (tensor<?x32xbf16>, tensor<32x32xbf16>) -> tensor<?x32xbf16>
  fuseops.return %0 : tensor<?x32xbf16>
}

fuseops.fusible @hybrid(%x: tensor<?x32xbf16>, %w: tensor<32x32xbf16>) -> tensor<?x32xbf16> attributes {fuseops.recipe = #fuseops.recipe<current>}
forward {
  fuseops.return %x save(%w) : tensor<?x32xbf16>, tensor<32x32xbf16>
}
backward (%dy: tensor<?x32xbf16>, saved %w: tensor<32x32xbf16>) {
  // expected-remark @below {{[Passed] Quantize | Category:fuseops-quantize | Reason="fuseops.matmul multiplies f8E5M2 per_tensor and f8E4M3FN per_tensor"}}
  %0 = fuseops.matmul %dy, %w : tensor<?x32xbf16>, tensor<32x32xbf16> -> tensor<?x32xbf16>
  fuseops.return %0, none : tensor<?x32xbf16>
}

// Without a recipe there is nothing to say.
fuseops.fusible @none(%x: tensor<?x32xbf16>, %w: tensor<32x32xbf16>) -> tensor<?x32xbf16> attributes {fuseops.recipe = #fuseops.recipe<none>}
forward {
  %0 = fuseops.linear %x, %w : (tensor<?x32xbf16>, tensor<32x32xbf16>) -> tensor<?x32xbf16>
  fuseops.return %0 : tensor<?x32xbf16>
}
