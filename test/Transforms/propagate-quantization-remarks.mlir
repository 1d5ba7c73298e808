// Bias, dropout, activations, gated units, norms and residuals need no motion: the
// quantize goes with their kernel, forward and backward each on its own.
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-propagate-quantization --remarks-filter=fuseops-propagate-quantization --verify-diagnostics -o %t

fuseops.fusible @producers(%x: tensor<?x128xbf16>, %b: tensor<128xbf16>, %g: tensor<128xbf16>, %state: tensor<2xi64> {fuseops.random_state}) -> (!fuseops.quantized<?x128xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<?x128xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<?x64xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<?x128xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<?x128xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<?x128xf8E4M3FN, scale = per_row, copies = row>)
forward {
  %0 = fuseops.bias %x, %b : tensor<?x128xbf16>, tensor<128xbf16>
  // expected-remark @below {{[Passed] Quantize | Category:fuseops-propagate-quantization | Reason="goes with fuseops.bias"}}
  %1 = fuseops.quantize %0 : (tensor<?x128xbf16>) -> !fuseops.quantized<?x128xf8E4M3FN, scale = per_row, copies = row>
  %2 = fuseops.gelu %x approximate(tanh) : tensor<?x128xbf16>
  // expected-remark @below {{[Passed] Quantize | Category:fuseops-propagate-quantization | Reason="goes with fuseops.gelu"}}
  %3 = fuseops.quantize %2 : (tensor<?x128xbf16>) -> !fuseops.quantized<?x128xf8E4M3FN, scale = per_row, copies = row>
  %4 = fuseops.swiglu %x activation(first) : tensor<?x128xbf16> -> tensor<?x64xbf16>
  // expected-remark @below {{[Passed] Quantize | Category:fuseops-propagate-quantization | Reason="goes with fuseops.swiglu"}}
  %5 = fuseops.quantize %4 : (tensor<?x64xbf16>) -> !fuseops.quantized<?x64xf8E4M3FN, scale = per_row, copies = row>
  %6, %rstd = fuseops.rms_norm %x gamma(%g) eps(1.0e-5) : (tensor<?x128xbf16>, tensor<128xbf16>) -> (tensor<?x128xbf16>, tensor<?x1xf32>)
  // expected-remark @below {{[Passed] Quantize | Category:fuseops-propagate-quantization | Reason="goes with fuseops.rms_norm"}}
  %7 = fuseops.quantize %6 : (tensor<?x128xbf16>) -> !fuseops.quantized<?x128xf8E4M3FN, scale = per_row, copies = row>
  %8 = fuseops.add %x, %2 : tensor<?x128xbf16>, tensor<?x128xbf16> -> tensor<?x128xbf16>
  // expected-remark @below {{[Passed] Quantize | Category:fuseops-propagate-quantization | Reason="goes with fuseops.add"}}
  %9 = fuseops.quantize %8 : (tensor<?x128xbf16>) -> !fuseops.quantized<?x128xf8E4M3FN, scale = per_row, copies = row>
  %10 = fuseops.dropout %x, %state p(0.1) : tensor<?x128xbf16>, tensor<2xi64>
  // expected-remark @below {{[Passed] Quantize | Category:fuseops-propagate-quantization | Reason="goes with fuseops.dropout"}}
  %11 = fuseops.quantize %10 : (tensor<?x128xbf16>) -> !fuseops.quantized<?x128xf8E4M3FN, scale = per_row, copies = row>
  fuseops.return %1, %3, %5, %7, %9, %11 : !fuseops.quantized<?x128xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<?x128xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<?x64xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<?x128xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<?x128xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<?x128xf8E4M3FN, scale = per_row, copies = row>
}

fuseops.fusible @backward(%x: tensor<32x32xbf16>) -> tensor<32x32xbf16>
forward {
  %s = fuseops.silu %x : tensor<32x32xbf16>
  // expected-remark @below {{[Passed] Quantize | Category:fuseops-propagate-quantization | Reason="2 of one value are one that writes row_col"}}
  // expected-remark @below {{[Passed] Quantize | Category:fuseops-propagate-quantization | Reason="goes with fuseops.silu"}}
  %0 = fuseops.quantize %s : (tensor<32x32xbf16>) -> !fuseops.quantized<32x32xf8E4M3FN, scale = block<1x128>, copies = row>
  %1 = fuseops.matmul %0, %0 transpose_rhs : !fuseops.quantized<32x32xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<32x32xf8E4M3FN, scale = block<1x128>, copies = row> -> tensor<32x32xbf16>
  fuseops.return %1 save(%x, %s) : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>
}
backward (%dy: tensor<32x32xbf16>, saved %x: tensor<32x32xbf16>, saved %s: tensor<32x32xbf16>) {
  %t = fuseops.permute %dy order[1, 0] : tensor<32x32xbf16> -> tensor<32x32xbf16>
  // expected-remark @below {{[Passed] Quantize | Category:fuseops-propagate-quantization | Reason="moves through fuseops.permute"}}
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-propagate-quantization | Reason="stops at an argument: reason 1, no kernel of this region computes an argument"}}
  %0 = fuseops.quantize %t : (tensor<32x32xbf16>) -> !fuseops.quantized<32x32xf8E4M3FN, scale = block<1x128>, copies = row>
  // expected-remark @below {{[Passed] Quantize | Category:fuseops-propagate-quantization | Reason="forward quantizes what it saves"}}
  %1 = fuseops.quantize %s : (tensor<32x32xbf16>) -> !fuseops.quantized<32x32xf8E4M3FN, scale = block<1x128>, copies = col>
  %2 = fuseops.matmul %0, %1 : !fuseops.quantized<32x32xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<32x32xf8E4M3FN, scale = block<1x128>, copies = col> -> tensor<32x32xbf16>
  %3 = fuseops.silu_grad %2, %x : tensor<32x32xbf16>
  fuseops.return %3 : tensor<32x32xbf16>
}
