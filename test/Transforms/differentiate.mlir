// What the pass does around the rules; those are in differentiate-*.mlir.
// RUN: fuse-opt %s --fuseops-differentiate | FileCheck %s

// Two uses of one value: their gradients are added.
// CHECK-LABEL: fuseops.fusible @used_twice(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.relu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.add %[[V0]], %[[V1]] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V2]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.relu_grad %[[ARG0]], %[[ARG1]] : tensor<4x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.silu_grad %[[ARG0]], %[[ARG1]] : tensor<4x8xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.add %[[V0]], %[[V1]] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @used_twice(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %a = fuseops.silu %x : tensor<4x8xf32>
  %b = fuseops.relu %x : tensor<4x8xf32>
  %y = fuseops.add %a, %b : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  fuseops.return %y : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @returned_twice(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>, saved %[[ARG2:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.add %[[ARG0]], %[[ARG1]] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.silu_grad %[[V0]], %[[ARG2]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @returned_twice(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
forward {
  %y = fuseops.silu %x : tensor<4x8xf32>
  fuseops.return %y, %y : tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @argument_is_result(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   fuseops.return %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @argument_is_result(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  fuseops.return %x : tensor<4x8xf32>
}

// No gradient of it, of what only it depends on, or through it.
// CHECK-LABEL: fuseops.fusible @frozen_argument(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32> {fuseops.frozen}, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.gelu %[[V0]] approximate(none) : tensor<4x8xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.mul %[[V1]], %[[ARG1]] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V2]] save(%[[V1]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.mul %[[ARG0]], %[[ARG1]] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return none, %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @frozen_argument(%x: tensor<4x8xf32> {fuseops.frozen}, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %a = fuseops.silu %x : tensor<4x8xf32>
  %b = fuseops.gelu %a approximate(none) : tensor<4x8xf32>
  %c = fuseops.mul %b, %y : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  fuseops.return %c : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @unused_argument(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.scale %[[ARG0]] by(2.000000e+00) : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.scale %[[ARG0]] by(2.000000e+00) : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]], none : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @unused_argument(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %a = fuseops.scale %x by(2.0) : tensor<4x8xf32>
  fuseops.return %a : tensor<4x8xf32>
}

// What no result depends on costs nothing in backward, and goes from forward.
// CHECK-LABEL: fuseops.fusible @unused_value(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.scale %[[ARG0]] by(2.000000e+00) : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.scale %[[ARG0]] by(2.000000e+00) : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @unused_value(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %a = fuseops.silu %x : tensor<4x8xf32>
  %b = fuseops.scale %x by(2.0) : tensor<4x8xf32>
  fuseops.return %b : tensor<4x8xf32>
}

// A maximum has no gradient, but none is asked for.
// CHECK-LABEL: fuseops.fusible @no_gradient_needed(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32> {fuseops.frozen}, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reduce_columns max %[[ARG0]] : tensor<4x8xf32> -> tensor<4x1xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.add %[[ARG1]], %[[V0]] : tensor<4x8xf32>, tensor<4x1xf32> -> tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   fuseops.return none, %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @no_gradient_needed(%x: tensor<4x8xf32> {fuseops.frozen}, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %m = fuseops.reduce_columns max %x : tensor<4x8xf32> -> tensor<4x1xf32>
  %z = fuseops.add %y, %m : tensor<4x8xf32>, tensor<4x1xf32> -> tensor<4x8xf32>
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @integer_argument_and_result(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xi32>) -> (tensor<4x8xi32>, tensor<4x8xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.scale %[[ARG0]] by(2.000000e+00) : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[ARG1]], %[[V0]] : tensor<4x8xi32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.scale %[[ARG0]] by(2.000000e+00) : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]], none : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @integer_argument_and_result(%x: tensor<4x8xf32>, %i: tensor<4x8xi32>) -> (tensor<4x8xi32>, tensor<4x8xf32>)
forward {
  %y = fuseops.scale %x by(2.0) : tensor<4x8xf32>
  fuseops.return %i, %y : tensor<4x8xi32>, tensor<4x8xf32>
}

// Backward takes the gradient of the other result only.
// CHECK-LABEL: fuseops.fusible @frozen_result(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) attributes {frozen_results = array<i64: 0>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.scale %[[ARG0]] by(2.000000e+00) : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V1]] : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.scale %[[ARG0]] by(2.000000e+00) : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @frozen_result(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) attributes {frozen_results = array<i64: 0>}
forward {
  %y = fuseops.silu %x : tensor<4x8xf32>
  %z = fuseops.scale %x by(2.0) : tensor<4x8xf32>
  fuseops.return %y, %z : tensor<4x8xf32>, tensor<4x8xf32>
}

// A backward region that is there stays.
// CHECK-LABEL: fuseops.fusible @given_backward(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.relu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[V0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.relu_grad %[[ARG0]], %[[ARG1]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @given_backward(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y = fuseops.relu %x : tensor<4x8xf32>
  fuseops.return %y save(%y) : tensor<4x8xf32>, tensor<4x8xf32>
}
backward (%dy: tensor<4x8xf32>, saved %y: tensor<4x8xf32>) {
  %dx = fuseops.relu_grad %dy, %y : tensor<4x8xf32>
  fuseops.return %dx : tensor<4x8xf32>
}
