// RUN: fuse-opt %s | fuse-opt | FileCheck %s
// RUN: fuse-opt %s --mlir-print-op-generic | fuse-opt | FileCheck %s

// CHECK-LABEL: fuseops.fusible @grouped_matmul(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x2x8xbf16>, %[[ARG1:.+]]: tensor<3x8x16xbf16>, %[[ARG2:.+]]: tensor<3xi64>) -> tensor<3x8x16xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.grouped_matmul %[[ARG0]], %[[ARG1]] sizes(%[[ARG2]]) : tensor<?x2x8xbf16>, tensor<3x8x16xbf16>, tensor<3xi64> -> tensor<?x2x16xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.grouped_matmul %[[V0]], %[[ARG1]] sizes(%[[ARG2]]) transpose_rhs : tensor<?x2x16xbf16>, tensor<3x8x16xbf16>, tensor<3xi64> -> tensor<?x2x8xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.grouped_matmul %[[V1]], %[[V0]] sizes(%[[ARG2]]) transpose_lhs : tensor<?x2x8xbf16>, tensor<?x2x16xbf16>, tensor<3xi64> -> tensor<3x8x16xf32>
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<3x8x16xf32>
// CHECK-NEXT: }
fuseops.fusible @grouped_matmul(%x: tensor<?x2x8xbf16>, %w: tensor<3x8x16xbf16>, %n: tensor<3xi64>) -> tensor<3x8x16xf32>
forward {
  %0 = fuseops.grouped_matmul %x, %w sizes(%n) : tensor<?x2x8xbf16>, tensor<3x8x16xbf16>, tensor<3xi64> -> tensor<?x2x16xbf16>
  %1 = fuseops.grouped_matmul %0, %w sizes(%n) transpose_rhs : tensor<?x2x16xbf16>, tensor<3x8x16xbf16>, tensor<3xi64> -> tensor<?x2x8xbf16>
  %2 = fuseops.grouped_matmul %1, %0 sizes(%n) transpose_lhs : tensor<?x2x8xbf16>, tensor<?x2x16xbf16>, tensor<3xi64> -> tensor<3x8x16xf32>
  fuseops.return %2 : tensor<3x8x16xf32>
}

// CHECK-LABEL: fuseops.fusible @grouped_linear(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<3x16x8xbf16>, %[[ARG2:.+]]: tensor<3xi64>, %[[ARG3:.+]]: tensor<3x16xbf16>, %[[ARG4:.+]]: tensor<?x1xf32>) -> tensor<?x16xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.grouped_linear %[[ARG0]], %[[ARG1]] sizes(%[[ARG2]]) : (tensor<?x8xbf16>, tensor<3x16x8xbf16>, tensor<3xi64>) -> tensor<?x16xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.grouped_linear %[[ARG0]], %[[ARG1]] sizes(%[[ARG2]]) bias(%[[ARG3]]) : (tensor<?x8xbf16>, tensor<3x16x8xbf16>, tensor<3xi64>, tensor<3x16xbf16>) -> tensor<?x16xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.grouped_linear %[[ARG0]], %[[ARG1]] sizes(%[[ARG2]]) bias(%[[ARG3]]) bias_scale(%[[ARG4]]) : (tensor<?x8xbf16>, tensor<3x16x8xbf16>, tensor<3xi64>, tensor<3x16xbf16>, tensor<?x1xf32>) -> tensor<?x16xbf16>
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<?x16xbf16>
// CHECK-NEXT: }
fuseops.fusible @grouped_linear(%x: tensor<?x8xbf16>, %w: tensor<3x16x8xbf16>, %n: tensor<3xi64>, %b: tensor<3x16xbf16>, %s: tensor<?x1xf32>) -> tensor<?x16xbf16>
forward {
  %0 = fuseops.grouped_linear %x, %w sizes(%n) : (tensor<?x8xbf16>, tensor<3x16x8xbf16>, tensor<3xi64>) -> tensor<?x16xbf16>
  %1 = fuseops.grouped_linear %x, %w sizes(%n) bias(%b) : (tensor<?x8xbf16>, tensor<3x16x8xbf16>, tensor<3xi64>, tensor<3x16xbf16>) -> tensor<?x16xbf16>
  %2 = fuseops.grouped_linear %x, %w sizes(%n) bias(%b) bias_scale(%s) : (tensor<?x8xbf16>, tensor<3x16x8xbf16>, tensor<3xi64>, tensor<3x16xbf16>, tensor<?x1xf32>) -> tensor<?x16xbf16>
  fuseops.return %2 : tensor<?x16xbf16>
}

// CHECK-LABEL: fuseops.fusible @of_fp8(
// CHECK: fuseops.grouped_matmul %{{.+}}, %{{.+}} sizes(%{{.+}}) transpose_rhs {fast_accumulate} : tensor<?x8xf8E4M3FN>, tensor<3x16x8xf8E5M2>, tensor<3xi64> -> tensor<?x16xf32>
fuseops.fusible @of_fp8(%x: tensor<?x8xf8E4M3FN>, %w: tensor<3x16x8xf8E5M2>, %n: tensor<3xi64>) -> tensor<?x16xf32>
forward {
  %0 = fuseops.grouped_matmul %x, %w sizes(%n) transpose_rhs {fast_accumulate} : tensor<?x8xf8E4M3FN>, tensor<3x16x8xf8E5M2>, tensor<3xi64> -> tensor<?x16xf32>
  fuseops.return %0 : tensor<?x16xf32>
}
