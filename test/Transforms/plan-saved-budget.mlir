// RUN: fuse-opt %s --fuseops-plan-saved="budget=2048 symbol=32" | FileCheck %s
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-plan-saved="budget=0 symbol=32" --remarks-filter-missed=fuseops-plan-saved --verify-diagnostics -o %t

// 32 x 32 of bf16 are 2048 bytes: the FP8 copy is computed again from the softmax,
// which is saved. Less than that is not possible: what the softmax is of is a
// product, which is computed once.
// CHECK-LABEL: fuseops.fusible @product(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x32xbf16>, %[[ARG1:.+]]: tensor<32x32xbf16>) -> tensor<?x32xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.linear %[[ARG0]], %[[ARG1]] : (tensor<?x32xbf16>, tensor<32x32xbf16>) -> tensor<?x32xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.softmax %[[V0]] : tensor<?x32xbf16> -> tensor<?x32xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.quantize %[[V1]] : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = col>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.silu %[[V1]] : tensor<?x32xbf16>
// CHECK-NEXT:   fuseops.return %[[V3]] save(%[[V1]]) : tensor<?x32xbf16>, tensor<?x32xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x32xbf16>, saved %[[ARG1:.+]]: tensor<?x32xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.quantize %[[ARG1]] {fuseops.recomputed} : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = col>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.quantize %[[ARG0]] : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = col>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.matmul %[[V1]], %[[V0]] transpose_lhs : !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = col>, !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = col> -> tensor<32x32xbf16>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.mul %[[ARG0]], %[[ARG1]] : tensor<?x32xbf16>, tensor<?x32xbf16> -> tensor<?x32xbf16>
// CHECK-NEXT:   fuseops.return %[[V3]], %[[V2]] : tensor<?x32xbf16>, tensor<32x32xbf16>
// CHECK-NEXT: }
// expected-remark @below {{[Missed] Saved | Category:fuseops-plan-saved | Reason="2048 bytes are saved, more than the budget of 0"}}
fuseops.fusible @product(%x: tensor<?x32xbf16>, %w: tensor<32x32xbf16>) -> tensor<?x32xbf16>
forward {
  %y = fuseops.linear %x, %w : (tensor<?x32xbf16>, tensor<32x32xbf16>) -> tensor<?x32xbf16>
  %s = fuseops.softmax %y : tensor<?x32xbf16> -> tensor<?x32xbf16>
  %q = fuseops.quantize %s : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = col>
  %t = fuseops.silu %s : tensor<?x32xbf16>
  fuseops.return %t save(%s, %q) : tensor<?x32xbf16>, tensor<?x32xbf16>, !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = col>
}
backward (%dy: tensor<?x32xbf16>, saved %s: tensor<?x32xbf16>, saved %q: !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = col>) {
  %0 = fuseops.quantize %dy : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = col>
  %1 = fuseops.matmul %0, %q transpose_lhs : !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = col>, !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = col> -> tensor<32x32xbf16>
  %2 = fuseops.mul %dy, %s : tensor<?x32xbf16>, tensor<?x32xbf16> -> tensor<?x32xbf16>
  fuseops.return %2, %1 : tensor<?x32xbf16>, tensor<32x32xbf16>
}
