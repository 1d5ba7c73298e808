// RUN: fuse-opt %s --fuseops-differentiate | FileCheck %s

// CHECK-LABEL: fuseops.fusible @grouped_linear(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<3x16x8xbf16>, %[[ARG2:.+]]: tensor<3xi64>, %[[ARG3:.+]]: tensor<3x16xbf16>, %[[ARG4:.+]]: tensor<?x1xf32>) -> tensor<?x16xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.grouped_linear %[[ARG0]], %[[ARG1]] sizes(%[[ARG2]]) bias(%[[ARG3]]) bias_scale(%[[ARG4]]) : (tensor<?x8xbf16>, tensor<3x16x8xbf16>, tensor<3xi64>, tensor<3x16xbf16>, tensor<?x1xf32>) -> tensor<?x16xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG1]], %[[ARG2]], %[[ARG0]], %[[ARG4]], %[[ARG3]]) : tensor<?x16xbf16>, tensor<3x16x8xbf16>, tensor<3xi64>, tensor<?x8xbf16>, tensor<?x1xf32>, tensor<3x16xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x16xbf16>, saved %[[ARG1:.+]]: tensor<3x16x8xbf16>, saved %[[ARG2:.+]]: tensor<3xi64>, saved %[[ARG3:.+]]: tensor<?x8xbf16>, saved %[[ARG4:.+]]: tensor<?x1xf32>, saved %[[ARG5:.+]]: tensor<3x16xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.grouped_matmul %[[ARG0]], %[[ARG1]] sizes(%[[ARG2]]) : tensor<?x16xbf16>, tensor<3x16x8xbf16>, tensor<3xi64> -> tensor<?x8xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.grouped_matmul %[[ARG0]], %[[ARG3]] sizes(%[[ARG2]]) transpose_lhs : tensor<?x16xbf16>, tensor<?x8xbf16>, tensor<3xi64> -> tensor<3x16x8xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.grouped_matmul %[[ARG4]], %[[ARG0]] sizes(%[[ARG2]]) transpose_lhs : tensor<?x1xf32>, tensor<?x16xbf16>, tensor<3xi64> -> tensor<3x1x16xbf16>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.reshape %[[V2]] : tensor<3x1x16xbf16> -> tensor<3x16xbf16>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.reshape %[[ARG5]] : tensor<3x16xbf16> -> tensor<3x1x16xbf16>
// CHECK-NEXT:   %[[V5:.+]] = fuseops.grouped_matmul %[[ARG0]], %[[V4]] sizes(%[[ARG2]]) transpose_rhs : tensor<?x16xbf16>, tensor<3x1x16xbf16>, tensor<3xi64> -> tensor<?x1xf32>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V1]], none, %[[V3]], %[[V5]] : tensor<?x8xbf16>, tensor<3x16x8xbf16>, tensor<3x16xbf16>, tensor<?x1xf32>
// CHECK-NEXT: }
fuseops.fusible @grouped_linear(%x: tensor<?x8xbf16>, %w: tensor<3x16x8xbf16>, %n: tensor<3xi64>, %b: tensor<3x16xbf16>, %s: tensor<?x1xf32>) -> tensor<?x16xbf16>
forward {
  %0 = fuseops.grouped_linear %x, %w sizes(%n) bias(%b) bias_scale(%s) : (tensor<?x8xbf16>, tensor<3x16x8xbf16>, tensor<3xi64>, tensor<3x16xbf16>, tensor<?x1xf32>) -> tensor<?x16xbf16>
  fuseops.return %0 : tensor<?x16xbf16>
}

// CHECK-LABEL: fuseops.fusible @grouped_matmul(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x2x8xf32>, %[[ARG1:.+]]: tensor<3x8x16xf32>, %[[ARG2:.+]]: tensor<3xi64>) -> tensor<?x2x16xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.grouped_matmul %[[ARG0]], %[[ARG1]] sizes(%[[ARG2]]) : tensor<?x2x8xf32>, tensor<3x8x16xf32>, tensor<3xi64> -> tensor<?x2x16xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG1]], %[[ARG2]], %[[ARG0]]) : tensor<?x2x16xf32>, tensor<3x8x16xf32>, tensor<3xi64>, tensor<?x2x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x2x16xf32>, saved %[[ARG1:.+]]: tensor<3x8x16xf32>, saved %[[ARG2:.+]]: tensor<3xi64>, saved %[[ARG3:.+]]: tensor<?x2x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.grouped_matmul %[[ARG0]], %[[ARG1]] sizes(%[[ARG2]]) transpose_rhs : tensor<?x2x16xf32>, tensor<3x8x16xf32>, tensor<3xi64> -> tensor<?x2x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.grouped_matmul %[[ARG3]], %[[ARG0]] sizes(%[[ARG2]]) transpose_lhs : tensor<?x2x8xf32>, tensor<?x2x16xf32>, tensor<3xi64> -> tensor<3x8x16xf32>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V1]], none : tensor<?x2x8xf32>, tensor<3x8x16xf32>
// CHECK-NEXT: }
fuseops.fusible @grouped_matmul(%x: tensor<?x2x8xf32>, %w: tensor<3x8x16xf32>, %n: tensor<3xi64>) -> tensor<?x2x16xf32>
forward {
  %0 = fuseops.grouped_matmul %x, %w sizes(%n) : tensor<?x2x8xf32>, tensor<3x8x16xf32>, tensor<3xi64> -> tensor<?x2x16xf32>
  fuseops.return %0 : tensor<?x2x16xf32>
}

// CHECK-LABEL: fuseops.fusible @transposed_lhs(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>, %[[ARG1:.+]]: tensor<?x16xf32>, %[[ARG2:.+]]: tensor<3xi64>) -> tensor<3x8x16xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.grouped_matmul %[[ARG0]], %[[ARG1]] sizes(%[[ARG2]]) transpose_lhs : tensor<?x8xf32>, tensor<?x16xf32>, tensor<3xi64> -> tensor<3x8x16xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG1]], %[[ARG2]], %[[ARG0]]) : tensor<3x8x16xf32>, tensor<?x16xf32>, tensor<3xi64>, tensor<?x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<3x8x16xf32>, saved %[[ARG1:.+]]: tensor<?x16xf32>, saved %[[ARG2:.+]]: tensor<3xi64>, saved %[[ARG3:.+]]: tensor<?x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.grouped_matmul %[[ARG1]], %[[ARG0]] sizes(%[[ARG2]]) transpose_rhs : tensor<?x16xf32>, tensor<3x8x16xf32>, tensor<3xi64> -> tensor<?x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.grouped_matmul %[[ARG3]], %[[ARG0]] sizes(%[[ARG2]]) : tensor<?x8xf32>, tensor<3x8x16xf32>, tensor<3xi64> -> tensor<?x16xf32>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V1]], none : tensor<?x8xf32>, tensor<?x16xf32>
// CHECK-NEXT: }
fuseops.fusible @transposed_lhs(%x: tensor<?x8xf32>, %y: tensor<?x16xf32>, %n: tensor<3xi64>) -> tensor<3x8x16xf32>
forward {
  %0 = fuseops.grouped_matmul %x, %y sizes(%n) transpose_lhs : tensor<?x8xf32>, tensor<?x16xf32>, tensor<3xi64> -> tensor<3x8x16xf32>
  fuseops.return %0 : tensor<3x8x16xf32>
}
