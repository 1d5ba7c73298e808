// `fuseops.apply`: inlined, with the callee's backward region.
// RUN: fuse-opt %s --fuseops-differentiate | FileCheck %s
// RUN: fuse-opt %s --fuseops-differentiate=derive=false | FileCheck %s --check-prefix=INLINE

// CHECK-NOT: private
// INLINE-NOT: private
// Derived first; private, so that it is gone afterwards.
fuseops.fusible @derived(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {sym_visibility = "private"}
forward {
  %y = fuseops.silu %x : tensor<4x8xf32>
  fuseops.return %y : tensor<4x8xf32>
}

// Not the derivative of its forward region: what is written counts.
fuseops.fusible @by_hand(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) attributes {sym_visibility = "private"}
forward {
  %y = fuseops.relu %x : tensor<4x8xf32>
  fuseops.return %y, %x save(%y) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
backward (%d0: tensor<4x8xf32>, %d1: tensor<4x8xf32>, saved %y: tensor<4x8xf32>) {
  %a = fuseops.gelu_grad %d0, %y approximate(none) : tensor<4x8xf32>
  %b = fuseops.add %a, %d1 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  fuseops.return %b : tensor<4x8xf32>
}

fuseops.fusible @no_gradient(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {sym_visibility = "private"}
forward {
  %z = fuseops.add %x, %y : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  fuseops.return %z : tensor<4x8xf32>
}
backward (%d: tensor<4x8xf32>) {
  fuseops.return none, %d : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @apply_derived(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu_grad %[[ARG0]], %[[ARG1]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @apply_derived(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y = fuseops.apply @derived(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  fuseops.return %y : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @apply_by_hand(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.relu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[ARG0]] save(%[[V0]]) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>, saved %[[ARG2:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.gelu_grad %[[ARG0]], %[[ARG2]] approximate(none) : tensor<4x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.add %[[V0]], %[[ARG1]] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @apply_by_hand(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
forward {
  %y:2 = fuseops.apply @by_hand(%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  fuseops.return %y#0, %y#1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// The gradient of a result that nothing uses is zero.
// CHECK-LABEL: fuseops.fusible @apply_unused_result(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.relu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[V0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise () : () -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     fuseops.yield %[[CST]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.gelu_grad %[[ARG0]], %[[ARG1]] approximate(none) : tensor<4x8xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.add %[[V1]], %[[V0]] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @apply_unused_result(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y:2 = fuseops.apply @by_hand(%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  fuseops.return %y#0 : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @apply_twice(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.silu %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V1]] save(%[[V0]], %[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>, saved %[[ARG2:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu_grad %[[ARG0]], %[[ARG1]] : tensor<4x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.silu_grad %[[V0]], %[[ARG2]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @apply_twice(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y = fuseops.apply @derived(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %z = fuseops.apply @derived(%y) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  fuseops.return %z : tensor<4x8xf32>
}

fuseops.fusible @middle(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {sym_visibility = "private"}
forward {
  %y = fuseops.apply @derived(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %z = fuseops.scale %y by(3.0) : tensor<4x8xf32>
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @apply_nested(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.scale %[[V0]] by(3.000000e+00) : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V1]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.scale %[[ARG0]] by(3.000000e+00) : tensor<4x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.silu_grad %[[V0]], %[[ARG1]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<4x8xf32>
// CHECK-NEXT: }
// INLINE-LABEL: fuseops.fusible @apply_nested(
// INLINE-NEXT: forward {
// INLINE-NEXT:   %[[Y:.+]] = fuseops.silu
// INLINE-NEXT:   %[[Z:.+]] = fuseops.scale %[[Y]] by(3.000000e+00)
// INLINE-NEXT:   fuseops.return %[[Z]] : tensor<4x8xf32>
// INLINE-NEXT: }
// INLINE-NOT: backward
fuseops.fusible @apply_nested(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y = fuseops.apply @middle(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  fuseops.return %y : tensor<4x8xf32>
}

// The callee says that its first argument has no gradient.
// CHECK-LABEL: fuseops.fusible @apply_none(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.add %[[ARG0]], %[[ARG1]] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   fuseops.return none, %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// INLINE: fuseops.fusible @apply_none(
fuseops.fusible @apply_none(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.apply @no_gradient(%x, %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  fuseops.return %z : tensor<4x8xf32>
}

// A frozen argument needs no gradient of the callee.
// CHECK-LABEL: fuseops.fusible @apply_frozen(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32> {fuseops.frozen}, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.add %[[V0]], %[[ARG1]] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   fuseops.return none, %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @apply_frozen(%x: tensor<4x8xf32> {fuseops.frozen}, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %a = fuseops.apply @derived(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %z = fuseops.add %a, %y : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  fuseops.return %z : tensor<4x8xf32>
}

// A fusible that is a program of its own stays.
// CHECK-LABEL: fuseops.fusible @public_callee(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.scale %[[ARG0]] by(2.000000e+00) : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.scale %[[ARG0]] by(2.000000e+00) : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @public_callee(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y = fuseops.scale %x by(2.0) : tensor<4x8xf32>
  fuseops.return %y : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @apply_public(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.scale %[[ARG0]] by(2.000000e+00) : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.scale %[[ARG0]] by(2.000000e+00) : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @apply_public(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y = fuseops.apply @public_callee(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  fuseops.return %y : tensor<4x8xf32>
}

// The region that backward was written for keeps it, with its applies inlined.
// CHECK-LABEL: fuseops.fusible @given_backward(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[V0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   fuseops.return %[[ARG1]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @given_backward(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y = fuseops.apply @derived(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  fuseops.return %y save(%y) : tensor<4x8xf32>, tensor<4x8xf32>
}
backward (%dy: tensor<4x8xf32>, saved %y: tensor<4x8xf32>) {
  fuseops.return %y : tensor<4x8xf32>
}

// A callee without a backward region is differentiated as part of its user: a
// result that nobody uses contributes nothing, and needs no gradient rule.
// CHECK-LABEL: fuseops.fusible @uses_one_result(
// CHECK: backward (%[[DY:.+]]: tensor<?x64xf32>, saved %[[X:.+]]: tensor<?x64xf32>) {
// CHECK-NEXT: %[[DX:.+]] = fuseops.silu_grad %[[DY]], %[[X]]
// CHECK-NEXT: fuseops.return %[[DX]]
fuseops.fusible @three_results(%x: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>, tensor<f32>) attributes {sym_visibility = "private"}
forward {
  %a = fuseops.silu %x : tensor<?x64xf32>
  %b = fuseops.gelu %x approximate(none) : tensor<?x64xf32>
  %c = fuseops.amax %x : tensor<?x64xf32> -> tensor<f32>
  fuseops.return %a, %b, %c : tensor<?x64xf32>, tensor<?x64xf32>, tensor<f32>
}
fuseops.fusible @uses_one_result(%x: tensor<?x64xf32>) -> tensor<?x64xf32>
forward {
  %y, %z, %w = fuseops.apply @three_results(%x) : (tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>, tensor<f32>)
  fuseops.return %y : tensor<?x64xf32>
}
