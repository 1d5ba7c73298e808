// RUN: fuse-opt %s | fuse-opt | FileCheck %s
// RUN: fuse-opt %s --mlir-print-op-generic | fuse-opt | FileCheck %s

// CHECK-LABEL: fuseops.fusible @softmax(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<?x8xf32>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.softmax %[[ARG0]] : tensor<?x8xbf16> -> tensor<?x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.softmax_grad %[[ARG1]], %[[V0]] : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @softmax(%x: tensor<?x8xbf16>, %dy: tensor<?x8xf32>) -> tensor<?x8xbf16>
forward {
  %0 = fuseops.softmax %x : tensor<?x8xbf16> -> tensor<?x8xf32>
  %1 = fuseops.softmax_grad %dy, %0 : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xbf16>
  fuseops.return %1 : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @log_softmax(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x8xf64>, %[[ARG1:.+]]: tensor<2x4x8xf64>) -> tensor<2x4x8xf64>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.log_softmax %[[ARG0]] : tensor<2x4x8xf64> -> tensor<2x4x8xf64>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.log_softmax_grad %[[ARG1]], %[[V0]] : tensor<2x4x8xf64>, tensor<2x4x8xf64> -> tensor<2x4x8xf64>
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<2x4x8xf64>
// CHECK-NEXT: }
fuseops.fusible @log_softmax(%x: tensor<2x4x8xf64>, %dy: tensor<2x4x8xf64>) -> tensor<2x4x8xf64>
forward {
  %0 = fuseops.log_softmax %x : tensor<2x4x8xf64> -> tensor<2x4x8xf64>
  %1 = fuseops.log_softmax_grad %dy, %0 : tensor<2x4x8xf64>, tensor<2x4x8xf64> -> tensor<2x4x8xf64>
  fuseops.return %1 : tensor<2x4x8xf64>
}

// CHECK-LABEL: fuseops.fusible @cross_entropy(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<?x1xi32>) -> (tensor<?x1xf32>, tensor<?x1xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[LOSS:.+]], %[[LOG_SUM_EXP:.+]] = fuseops.cross_entropy %[[ARG0]], %[[ARG1]] ignore_index(-100) label_smoothing(1.000000e-01) : tensor<?x8xbf16>, tensor<?x1xi32> -> (tensor<?x1xf32>, tensor<?x1xf32>)
// CHECK-NEXT:   fuseops.return %[[LOSS]], %[[LOG_SUM_EXP]] : tensor<?x1xf32>, tensor<?x1xf32>
// CHECK-NEXT: }
fuseops.fusible @cross_entropy(%x: tensor<?x8xbf16>, %t: tensor<?x1xi32>) -> (tensor<?x1xf32>, tensor<?x1xf32>)
forward {
  %0, %1 = fuseops.cross_entropy %x, %t ignore_index(-100) label_smoothing(0.1) : tensor<?x8xbf16>, tensor<?x1xi32> -> (tensor<?x1xf32>, tensor<?x1xf32>)
  fuseops.return %0, %1 : tensor<?x1xf32>, tensor<?x1xf32>
}
