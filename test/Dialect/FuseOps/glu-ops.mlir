// RUN: fuse-opt %s | fuse-opt | FileCheck %s
// RUN: fuse-opt %s --mlir-print-op-generic | fuse-opt | FileCheck %s

// CHECK-LABEL: fuseops.fusible @kinds(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x16xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.swiglu %[[ARG0]] activation(first) : tensor<?x16xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.glu %[[ARG0]] activation(last) : tensor<?x16xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.geglu %[[ARG0]]  activation(first) : tensor<?x16xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.geglu %[[ARG0]] approximate(none) activation(first) : tensor<?x16xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.qgeglu %[[ARG0]] activation(last) : tensor<?x16xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   %[[V5:.+]] = fuseops.reglu %[[ARG0]] activation(first) : tensor<?x16xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   %[[V6:.+]] = fuseops.sreglu %[[ARG0]] activation(first) : tensor<?x16xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   %[[V7:.+]] = fuseops.situglu %[[ARG0]] beta1(4.000000e+00) beta2(2.500000e+01) activation(first) : tensor<?x16xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   %[[V8:.+]] = fuseops.clamped_swiglu %[[ARG0]] limit(7.000000e+00) alpha(1.702000e+00) offset(1.000000e+00) activation(first) : tensor<?x16xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V8]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @kinds(%x: tensor<?x16xbf16>) -> tensor<?x8xbf16>
forward {
  %0 = fuseops.swiglu %x activation(first) : tensor<?x16xbf16> -> tensor<?x8xbf16>
  %1 = fuseops.glu %x activation(last) : tensor<?x16xbf16> -> tensor<?x8xbf16>
  %2 = fuseops.geglu %x activation(first) : tensor<?x16xbf16> -> tensor<?x8xbf16>
  %3 = fuseops.geglu %x approximate(none) activation(first) : tensor<?x16xbf16> -> tensor<?x8xbf16>
  %4 = fuseops.qgeglu %x activation(last) : tensor<?x16xbf16> -> tensor<?x8xbf16>
  %5 = fuseops.reglu %x activation(first) : tensor<?x16xbf16> -> tensor<?x8xbf16>
  %6 = fuseops.sreglu %x activation(first) : tensor<?x16xbf16> -> tensor<?x8xbf16>
  %7 = fuseops.situglu %x beta1(4.0) beta2(25.0) activation(first) : tensor<?x16xbf16> -> tensor<?x8xbf16>
  %8 = fuseops.clamped_swiglu %x limit(7.0) alpha(1.702) offset(1.0) activation(first) : tensor<?x16xbf16> -> tensor<?x8xbf16>
  fuseops.return %8 : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @scaled_and_interleaved(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x16xf64>, %[[ARG1:.+]]: tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.swiglu %[[ARG0]] scale(%[[ARG1]]) activation(last) interleave(4) : tensor<2x4x16xf64>, tensor<2x4x1xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.clamped_swiglu %[[ARG0]] scale(%[[ARG1]]) limit(7.000000e+00) alpha(1.702000e+00) offset(1.000000e+00) activation(first) interleave(2) : tensor<2x4x16xf64>, tensor<2x4x1xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<2x4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @scaled_and_interleaved(%x: tensor<2x4x16xf64>, %s: tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
forward {
  %0 = fuseops.swiglu %x scale(%s) activation(last) interleave(4) : tensor<2x4x16xf64>, tensor<2x4x1xf32> -> tensor<2x4x8xf32>
  %1 = fuseops.clamped_swiglu %x scale(%s) limit(7.0) alpha(1.702) offset(1.0) activation(first) interleave(2) : tensor<2x4x16xf64>, tensor<2x4x1xf32> -> tensor<2x4x8xf32>
  fuseops.return %1 : tensor<2x4x8xf32>
}
