// RUN: fuse-opt %s --fuseops-expand-grouped | FileCheck %s

// CHECK-LABEL: fuseops.fusible @no_bias(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<3x16x8xbf16>, %[[ARG2:.+]]: tensor<3xi64>) -> tensor<?x16xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.grouped_matmul %[[ARG0]], %[[ARG1]] sizes(%[[ARG2]]) transpose_rhs : tensor<?x8xbf16>, tensor<3x16x8xbf16>, tensor<3xi64> -> tensor<?x16xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x16xbf16>
// CHECK-NEXT: }
fuseops.fusible @no_bias(%x: tensor<?x8xbf16>, %w: tensor<3x16x8xbf16>, %n: tensor<3xi64>) -> tensor<?x16xbf16>
forward {
  %0 = fuseops.grouped_linear %x, %w sizes(%n) : (tensor<?x8xbf16>, tensor<3x16x8xbf16>, tensor<3xi64>) -> tensor<?x16xbf16>
  fuseops.return %0 : tensor<?x16xbf16>
}

// The bias of each row's group, by a product with ones.
// CHECK-LABEL: fuseops.fusible @bias(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<3x16x8xbf16>, %[[ARG2:.+]]: tensor<3xi64>, %[[ARG3:.+]]: tensor<3x16xbf16>) -> tensor<?x16xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.grouped_matmul %[[ARG0]], %[[ARG1]] sizes(%[[ARG2]]) transpose_rhs : tensor<?x8xbf16>, tensor<3x16x8xbf16>, tensor<3xi64> -> tensor<?x16xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.pointwise () : () -> tensor<?x1xbf16> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     fuseops.yield %[[CST]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V2:.+]] = fuseops.reshape %[[ARG3]] : tensor<3x16xbf16> -> tensor<3x1x16xbf16>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.grouped_matmul %[[V1]], %[[V2]] sizes(%[[ARG2]]) : tensor<?x1xbf16>, tensor<3x1x16xbf16>, tensor<3xi64> -> tensor<?x16xbf16>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.add %[[V0]], %[[V3]] : tensor<?x16xbf16>, tensor<?x16xbf16> -> tensor<?x16xbf16>
// CHECK-NEXT:   fuseops.return %[[V4]] : tensor<?x16xbf16>
// CHECK-NEXT: }
fuseops.fusible @bias(%x: tensor<?x8xbf16>, %w: tensor<3x16x8xbf16>, %n: tensor<3xi64>, %b: tensor<3x16xbf16>) -> tensor<?x16xbf16>
forward {
  %0 = fuseops.grouped_linear %x, %w sizes(%n) bias(%b) : (tensor<?x8xbf16>, tensor<3x16x8xbf16>, tensor<3xi64>, tensor<3x16xbf16>) -> tensor<?x16xbf16>
  fuseops.return %0 : tensor<?x16xbf16>
}

// CHECK-LABEL: fuseops.fusible @scaled_bias(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<3x16x8xbf16>, %[[ARG2:.+]]: tensor<3xi64>, %[[ARG3:.+]]: tensor<3x16xbf16>, %[[ARG4:.+]]: tensor<?x1xf32>) -> tensor<?x16xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.grouped_matmul %[[ARG0]], %[[ARG1]] sizes(%[[ARG2]]) transpose_rhs : tensor<?x8xbf16>, tensor<3x16x8xbf16>, tensor<3xi64> -> tensor<?x16xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reshape %[[ARG3]] : tensor<3x16xbf16> -> tensor<3x1x16xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.grouped_matmul %[[ARG4]], %[[V1]] sizes(%[[ARG2]]) : tensor<?x1xf32>, tensor<3x1x16xbf16>, tensor<3xi64> -> tensor<?x16xbf16>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.add %[[V0]], %[[V2]] : tensor<?x16xbf16>, tensor<?x16xbf16> -> tensor<?x16xbf16>
// CHECK-NEXT:   fuseops.return %[[V3]] : tensor<?x16xbf16>
// CHECK-NEXT: }
fuseops.fusible @scaled_bias(%x: tensor<?x8xbf16>, %w: tensor<3x16x8xbf16>, %n: tensor<3xi64>, %b: tensor<3x16xbf16>, %s: tensor<?x1xf32>) -> tensor<?x16xbf16>
forward {
  %0 = fuseops.grouped_linear %x, %w sizes(%n) bias(%b) bias_scale(%s) : (tensor<?x8xbf16>, tensor<3x16x8xbf16>, tensor<3xi64>, tensor<3x16xbf16>, tensor<?x1xf32>) -> tensor<?x16xbf16>
  fuseops.return %0 : tensor<?x16xbf16>
}
