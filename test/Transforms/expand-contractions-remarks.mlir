// One remark a contraction of quantized operands: the first condition that does
// not hold, in the order of the pass's description.
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-expand-contractions=chip=sm_90a --remarks-filter=fuseops-expand-contractions --verify-diagnostics -o %t

!e4m3 = !fuseops.quantized<32x64xf8E4M3FN, scale = per_tensor, copies = row>
!e5m2 = !fuseops.quantized<32x64xf8E5M2, scale = per_tensor, copies = row>
!row = !fuseops.quantized<32x64xf8E4M3FN, scale = per_row, copies = row>
!block = !fuseops.quantized<32x64xf8E4M3FN, scale = block<128x128>, copies = row>
!mx = !fuseops.quantized<32x64xf8E4M3FN, scale = mx<1x32>, copies = row>

fuseops.fusible @main(%a: !e4m3, %b: !e5m2, %r: !row, %k: !block, %m: !mx, %x: tensor<32x64xbf16>) -> (tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xf64>, tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>)
forward {
  // expected-remark @below {{fuseops.linear multiplied in FP8}}
  %0 = fuseops.linear %a, %b : (!e4m3, !e5m2) -> tensor<32x32xbf16>
  // expected-remark @below {{fuseops.linear dequantized to f32: condition 1, an operand is not quantized}}
  %1 = fuseops.linear %x, %b : (tensor<32x64xbf16>, !e5m2) -> tensor<32x32xbf16>
  // expected-remark @below {{fuseops.linear dequantized to f32: condition 3, both operands are f8E5M2}}
  %2 = fuseops.linear %b, %b : (!e5m2, !e5m2) -> tensor<32x32xbf16>
  // expected-remark @below {{fuseops.linear dequantized to f64: condition 4, the result is not f16, bf16 or f32}}
  %3 = fuseops.linear %a, %a : (!e4m3, !e4m3) -> tensor<32x32xf64>
  // expected-remark @below {{fuseops.linear dequantized to f32: condition 5, the library has no product of these scales on this chip}}
  %4 = fuseops.linear %a, %r : (!e4m3, !row) -> tensor<32x32xbf16>
  // expected-remark @below {{fuseops.linear dequantized to f32: condition 5, the library has no product of these scales on this chip}}
  %5 = fuseops.linear %k, %k : (!block, !block) -> tensor<32x32xbf16>
  // expected-remark @below {{fuseops.linear dequantized to bf16: condition 5, the library has no product of these scales on this chip}}
  %6 = fuseops.linear %m, %m : (!mx, !mx) -> tensor<32x32xbf16>
  fuseops.return %0, %1, %2, %3, %4, %5, %6 : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xf64>, tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>
}
