// RUN: fuse-opt %s --fuseops-differentiate | FileCheck %s

// CHECK-LABEL: fuseops.fusible @softmax(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>) -> tensor<?x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.softmax %[[ARG0]] : tensor<?x8xbf16> -> tensor<?x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[V0]]) : tensor<?x8xf32>, tensor<?x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xf32>, saved %[[ARG1:.+]]: tensor<?x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.softmax_grad %[[ARG0]], %[[ARG1]] : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @softmax(%x: tensor<?x8xbf16>) -> tensor<?x8xf32>
forward {
  %y = fuseops.softmax %x : tensor<?x8xbf16> -> tensor<?x8xf32>
  fuseops.return %y : tensor<?x8xf32>
}

// CHECK-LABEL: fuseops.fusible @log_softmax(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.log_softmax %[[ARG0]] : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[V0]]) : tensor<?x8xf32>, tensor<?x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xf32>, saved %[[ARG1:.+]]: tensor<?x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.log_softmax_grad %[[ARG0]], %[[ARG1]] : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @log_softmax(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  %y = fuseops.log_softmax %x : tensor<?x8xf32> -> tensor<?x8xf32>
  fuseops.return %y : tensor<?x8xf32>
}

// One pointwise operation: the softmax comes from the saved sum.
// CHECK-LABEL: fuseops.fusible @cross_entropy(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<?x1xi64>) -> tensor<?x1xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[LOSS:.+]], %[[LOG_SUM_EXP:.+]] = fuseops.cross_entropy %[[ARG0]], %[[ARG1]] ignore_index(-100) label_smoothing(0.000000e+00) : tensor<?x8xbf16>, tensor<?x1xi64> -> (tensor<?x1xf32>, tensor<?x1xf32>)
// CHECK-NEXT:   fuseops.return %[[LOSS]] save(%[[ARG0]], %[[LOG_SUM_EXP]], %[[ARG1]]) : tensor<?x1xf32>, tensor<?x8xbf16>, tensor<?x1xf32>, tensor<?x1xi64>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x1xf32>, saved %[[ARG1:.+]]: tensor<?x8xbf16>, saved %[[ARG2:.+]]: tensor<?x1xf32>, saved %[[ARG3:.+]]: tensor<?x1xi64>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG4:.+]] = %[[ARG1]], %[[ARG5:.+]] = %[[ARG2]], %[[ARG6:.+]] = %[[ARG3]], %[[ARG7:.+]] = %[[ARG0]]) : (tensor<?x8xbf16>, tensor<?x1xf32>, tensor<?x1xi64>, tensor<?x1xf32>) -> tensor<?x8xbf16> {
// CHECK: fuseops.yield %{{.+}} : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]], none : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @cross_entropy(%x: tensor<?x8xbf16>, %t: tensor<?x1xi64>) -> tensor<?x1xf32>
forward {
  %y, %l = fuseops.cross_entropy %x, %t ignore_index(-100) label_smoothing(0.0) : tensor<?x8xbf16>, tensor<?x1xi64> -> (tensor<?x1xf32>, tensor<?x1xf32>)
  fuseops.return %y : tensor<?x1xf32>
}

// CHECK-LABEL: fuseops.fusible @log_sum_exp_only(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<?x1xi64>) -> tensor<?x1xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[LOSS:.+]], %[[LOG_SUM_EXP:.+]] = fuseops.cross_entropy %[[ARG0]], %[[ARG1]] ignore_index(-100) label_smoothing(0.000000e+00) : tensor<?x8xbf16>, tensor<?x1xi64> -> (tensor<?x1xf32>, tensor<?x1xf32>)
// CHECK-NEXT:   fuseops.return %[[LOG_SUM_EXP]] save(%[[ARG0]], %[[LOG_SUM_EXP]]) : tensor<?x1xf32>, tensor<?x8xbf16>, tensor<?x1xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x1xf32>, saved %[[ARG1:.+]]: tensor<?x8xbf16>, saved %[[ARG2:.+]]: tensor<?x1xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG1]], %[[ARG4:.+]] = %[[ARG2]], %[[ARG5:.+]] = %[[ARG0]]) : (tensor<?x8xbf16>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x8xbf16> {
// CHECK: fuseops.yield %{{.+}} : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]], none : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @log_sum_exp_only(%x: tensor<?x8xbf16>, %t: tensor<?x1xi64>) -> tensor<?x1xf32>
forward {
  %y, %l = fuseops.cross_entropy %x, %t ignore_index(-100) label_smoothing(0.0) : tensor<?x8xbf16>, tensor<?x1xi64> -> (tensor<?x1xf32>, tensor<?x1xf32>)
  fuseops.return %l : tensor<?x1xf32>
}
