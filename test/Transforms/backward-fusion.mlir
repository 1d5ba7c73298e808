// RUN: fuse-opt %s --fuseops-backward-fusion | FileCheck %s
// RUN: fuse-opt %s --fuseops-backward-fusion=fuse=false | FileCheck %s --check-prefix=SINGLE

// The bias gradient is a reduction over rows in the kernel of the activation's.
// CHECK-LABEL: fuseops.fusible @bias_gradient(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.bias %[[ARG0]], %[[ARG1]] : tensor<?x8xbf16>, tensor<8xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.gelu %[[V0]] approximate(none) : tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V1]] save(%[[V0]]) : tensor<?x8xbf16>, tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>, saved %[[ARG1:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.group @backward_0 row_column (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<?x8xbf16>, tensor<?x8xbf16>) -> (tensor<?x8xbf16>, tensor<8xbf16>) {
// CHECK-NEXT:     %[[V1:.+]] = fuseops.gelu_grad %[[ARG2]], %[[ARG3]] approximate(none) : tensor<?x8xbf16>
// CHECK-NEXT:     %[[V2:.+]] = fuseops.reduce_rows sum %[[V1]] : tensor<?x8xbf16> -> tensor<8xbf16>
// CHECK-NEXT:     fuseops.yield %[[V1]], %[[V2]] : tensor<?x8xbf16>, tensor<8xbf16>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]]#0, %[[V0]]#1 : tensor<?x8xbf16>, tensor<8xbf16>
// CHECK-NEXT: }
// SINGLE-LABEL: fuseops.fusible @bias_gradient(
// SINGLE: %[[A:.+]] = fuseops.group @backward_0 pointwise
// SINGLE-NEXT: fuseops.gelu_grad
// SINGLE-NEXT: fuseops.yield
// SINGLE: %[[B:.+]] = fuseops.group @backward_1 row_column (%{{.+}} = %[[A]])
// SINGLE-NEXT: fuseops.reduce_rows
// SINGLE-NEXT: fuseops.yield
// SINGLE: fuseops.return %[[A]], %[[B]]
fuseops.fusible @bias_gradient(%x: tensor<?x8xbf16>, %b: tensor<8xbf16>) -> tensor<?x8xbf16>
forward {
  %0 = fuseops.bias %x, %b : tensor<?x8xbf16>, tensor<8xbf16>
  %1 = fuseops.gelu %0 approximate(none) : tensor<?x8xbf16>
  fuseops.return %1 save(%0) : tensor<?x8xbf16>, tensor<?x8xbf16>
}
backward (%dy: tensor<?x8xbf16>, saved %z: tensor<?x8xbf16>) {
  %0 = fuseops.gelu_grad %dy, %z approximate(none) : tensor<?x8xbf16>
  %1 = fuseops.reduce_rows sum %0 : tensor<?x8xbf16> -> tensor<8xbf16>
  fuseops.return %0, %1 : tensor<?x8xbf16>, tensor<8xbf16>
}

// CHECK-LABEL: fuseops.fusible @norm_gradient(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[RESULT:.+]], %[[RSTD:.+]] = fuseops.rms_norm %[[ARG0]] gamma(%[[ARG1]]) eps(5.000000e-01) : (tensor<?x8xbf16>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x1xf32>)
// CHECK-NEXT:   fuseops.return %[[RESULT]] save(%[[ARG0]], %[[RSTD]], %[[ARG1]]) : tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x1xf32>, tensor<8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>, saved %[[ARG1:.+]]: tensor<?x8xbf16>, saved %[[ARG2:.+]]: tensor<?x1xf32>, saved %[[ARG3:.+]]: tensor<8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.group @backward_0 row_column (%[[ARG4:.+]] = %[[ARG0]], %[[ARG5:.+]] = %[[ARG1]], %[[ARG6:.+]] = %[[ARG2]], %[[ARG7:.+]] = %[[ARG3]]) : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x1xf32>, tensor<8xbf16>) -> (tensor<8xbf16>, tensor<?x8xbf16>) {
// CHECK-NEXT:     %[[RESULT:.+]], %[[GAMMAGRADIENT:.+]] = fuseops.rms_norm_grad %[[ARG4]], %[[ARG5]], %[[ARG6]] gamma(%[[ARG7]]) : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x1xf32>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<8xbf16>)
// CHECK-NEXT:     %[[V1:.+]] = fuseops.add %[[RESULT]], %[[ARG4]] : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:     fuseops.yield %[[GAMMAGRADIENT]], %[[V1]] : tensor<8xbf16>, tensor<?x8xbf16>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]]#1, %[[V0]]#0 : tensor<?x8xbf16>, tensor<8xbf16>
// CHECK-NEXT: }
fuseops.fusible @norm_gradient(%x: tensor<?x8xbf16>, %g: tensor<8xbf16>) -> tensor<?x8xbf16>
forward {
  %0, %r = fuseops.rms_norm %x gamma(%g) eps(0.5) : (tensor<?x8xbf16>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x1xf32>)
  fuseops.return %0 save(%x, %r, %g) : tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x1xf32>, tensor<8xbf16>
}
backward (%dy: tensor<?x8xbf16>, saved %x: tensor<?x8xbf16>, saved %r: tensor<?x1xf32>, saved %g: tensor<8xbf16>) {
  %0, %dg = fuseops.rms_norm_grad %dy, %x, %r gamma(%g) : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x1xf32>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<8xbf16>)
  %1 = fuseops.add %0, %dy : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  fuseops.return %1, %dg : tensor<?x8xbf16>, tensor<8xbf16>
}

// A gradient that is the incoming one stays it: no kernel.
// CHECK-LABEL: fuseops.fusible @alias(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.add %[[ARG0]], %[[ARG1]] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   fuseops.return %[[ARG0]], %[[ARG0]] : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @alias(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %0 = fuseops.add %x, %y : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  fuseops.return %0 : tensor<4x8xf32>
}
backward (%dy: tensor<4x8xf32>) {
  fuseops.return %dy, %dy : tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @no_backward(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @no_backward(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %0 = fuseops.silu %x : tensor<4x8xf32>
  fuseops.return %0 : tensor<4x8xf32>
}
