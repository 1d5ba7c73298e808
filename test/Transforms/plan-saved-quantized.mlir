// RUN: fuse-opt %s --fuseops-plan-saved | FileCheck %s
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-plan-saved --remarks-filter=fuseops-plan-saved --verify-diagnostics -o %t

// The FP8 copy is not computed again from what is saved anyway: to read it is
// cheaper.
// CHECK-LABEL: fuseops.fusible @copy(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x32xbf16>) -> tensor<?x32xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.softmax %[[ARG0]] : tensor<?x32xbf16> -> tensor<?x32xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.quantize %[[V0]] : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.silu %[[V0]] : tensor<?x32xbf16>
// CHECK-NEXT:   fuseops.return %[[V2]] save(%[[V2]], %[[V1]]) : tensor<?x32xbf16>, tensor<?x32xbf16>, !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x32xbf16>, saved %[[ARG1:.+]]: tensor<?x32xbf16>, saved %[[ARG2:.+]]: !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.quantize %[[ARG0]] : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.matmul %[[V0]], %[[ARG2]] transpose_lhs : !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>, !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col> -> tensor<32x32xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.reduce_rows sum %[[V1]] : tensor<32x32xbf16> -> tensor<32xbf16>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.bias %[[ARG1]], %[[V2]] : tensor<?x32xbf16>, tensor<32xbf16>
// CHECK-NEXT:   fuseops.return %[[V3]] : tensor<?x32xbf16>
// CHECK-NEXT: }
fuseops.fusible @copy(%x: tensor<?x32xbf16>) -> tensor<?x32xbf16>
forward {
  %s = fuseops.softmax %x : tensor<?x32xbf16> -> tensor<?x32xbf16>
  // expected-remark @below {{[Analysis] Saved | Category:fuseops-plan-saved | Reason="!fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>: saved, the FP8 copy, [0, 32, 0, 128] bytes"}}
  %q = fuseops.quantize %s : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>
  // expected-remark @below {{[Analysis] Saved | Category:fuseops-plan-saved | Reason="tensor<?x32xbf16>: a result, [0, 0] bytes"}}
  %t = fuseops.silu %s : tensor<?x32xbf16>
  fuseops.return %t save(%t, %q) : tensor<?x32xbf16>, tensor<?x32xbf16>, !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>
}
backward (%dy: tensor<?x32xbf16>, saved %t: tensor<?x32xbf16>, saved %q: !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>) {
  %0 = fuseops.quantize %dy : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>
  %1 = fuseops.matmul %0, %q transpose_lhs : !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>, !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col> -> tensor<32x32xbf16>
  %2 = fuseops.reduce_rows sum %1 : tensor<32x32xbf16> -> tensor<32xbf16>
  %3 = fuseops.bias %t, %2 : tensor<?x32xbf16>, tensor<32xbf16>
  fuseops.return %3 : tensor<?x32xbf16>
}

// An argument costs nothing; what one pointwise operation gives is computed again.
// CHECK-LABEL: fuseops.fusible @again(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x32xbf16>) -> tensor<?x32xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<?x32xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.softmax %[[V0]] : tensor<?x32xbf16> -> tensor<?x32xbf16>
// CHECK-NEXT:   fuseops.return %[[V1]] save(%[[ARG0]]) : tensor<?x32xbf16>, tensor<?x32xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x32xbf16>, saved %[[ARG1:.+]]: tensor<?x32xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG1]] {fuseops.recomputed} : tensor<?x32xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.mul %[[ARG0]], %[[ARG1]] : tensor<?x32xbf16>, tensor<?x32xbf16> -> tensor<?x32xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.mul %[[V1]], %[[V0]] : tensor<?x32xbf16>, tensor<?x32xbf16> -> tensor<?x32xbf16>
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<?x32xbf16>
// CHECK-NEXT: }
// expected-remark @below {{[Analysis] Saved | Category:fuseops-plan-saved | Reason="tensor<?x32xbf16>: an argument, [0, 0] bytes"}}
fuseops.fusible @again(%x: tensor<?x32xbf16>) -> tensor<?x32xbf16>
forward {
  // expected-remark @below {{[Analysis] Saved | Category:fuseops-plan-saved | Reason="tensor<?x32xbf16>: computed again, [0, 0] bytes"}}
  %s = fuseops.silu %x : tensor<?x32xbf16>
  %t = fuseops.softmax %s : tensor<?x32xbf16> -> tensor<?x32xbf16>
  fuseops.return %t save(%x, %s) : tensor<?x32xbf16>, tensor<?x32xbf16>, tensor<?x32xbf16>
}
backward (%dy: tensor<?x32xbf16>, saved %x: tensor<?x32xbf16>, saved %s: tensor<?x32xbf16>) {
  %0 = fuseops.mul %dy, %x : tensor<?x32xbf16>, tensor<?x32xbf16> -> tensor<?x32xbf16>
  %1 = fuseops.mul %0, %s : tensor<?x32xbf16>, tensor<?x32xbf16> -> tensor<?x32xbf16>
  fuseops.return %1 : tensor<?x32xbf16>
}
