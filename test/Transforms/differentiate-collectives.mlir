// Collectives and their duals; a value that is returned twice.
// RUN: fuse-opt %s --fuseops-differentiate | FileCheck %s

// CHECK-LABEL: fuseops.fusible @all_reduce(
// CHECK-SAME: %[[ARG0:.+]]: tensor<32x8xf32>) -> tensor<32x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.all_reduce %[[ARG0]] group("tp") size(4) : tensor<32x8xf32> -> tensor<32x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<32x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<32x8xf32>) {
// CHECK-NEXT:   fuseops.return %[[ARG0]] : tensor<32x8xf32>
// CHECK-NEXT: }
fuseops.fusible @all_reduce(%x: tensor<32x8xf32>) -> tensor<32x8xf32>
forward {
  %0 = fuseops.all_reduce %x group("tp") size(4) : tensor<32x8xf32> -> tensor<32x8xf32>
  fuseops.return %0 : tensor<32x8xf32>
}

// CHECK-LABEL: fuseops.fusible @all_gather(
// CHECK-SAME: %[[ARG0:.+]]: tensor<32x8xf32>) -> tensor<128x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.all_gather %[[ARG0]] group("tp") size(4) : tensor<32x8xf32> -> tensor<128x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<128x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<128x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reduce_scatter %[[ARG0]] group("tp") size(4) : tensor<128x8xf32> -> tensor<32x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<32x8xf32>
// CHECK-NEXT: }
fuseops.fusible @all_gather(%x: tensor<32x8xf32>) -> tensor<128x8xf32>
forward {
  %0 = fuseops.all_gather %x group("tp") size(4) : tensor<32x8xf32> -> tensor<128x8xf32>
  fuseops.return %0 : tensor<128x8xf32>
}

// CHECK-LABEL: fuseops.fusible @reduce_scatter(
// CHECK-SAME: %[[ARG0:.+]]: tensor<32x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reduce_scatter %[[ARG0]] group("tp") size(4) : tensor<32x8xf32> -> tensor<8x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<8x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<8x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.all_gather %[[ARG0]] group("tp") size(4) : tensor<8x8xf32> -> tensor<32x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<32x8xf32>
// CHECK-NEXT: }
fuseops.fusible @reduce_scatter(%x: tensor<32x8xf32>) -> tensor<8x8xf32>
forward {
  %0 = fuseops.reduce_scatter %x group("tp") size(4) : tensor<32x8xf32> -> tensor<8x8xf32>
  fuseops.return %0 : tensor<8x8xf32>
}

// MakeExtraOutput: the gradients of both outputs are added.
// CHECK-LABEL: fuseops.fusible @extra_output(
// CHECK-SAME: %[[ARG0:.+]]: tensor<32x8xf32>) -> (tensor<32x8xf32>, tensor<32x8xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.relu %[[ARG0]] : tensor<32x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.scale %[[V0]] by(2.000000e+00) : tensor<32x8xf32>
// CHECK-NEXT:   fuseops.return %[[V1]], %[[V0]] save(%[[ARG0]]) : tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<32x8xf32>, %[[ARG1:.+]]: tensor<32x8xf32>, saved %[[ARG2:.+]]: tensor<32x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.scale %[[ARG0]] by(2.000000e+00) : tensor<32x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.add %[[ARG1]], %[[V0]] : tensor<32x8xf32>, tensor<32x8xf32> -> tensor<32x8xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.relu_grad %[[V1]], %[[ARG2]] : tensor<32x8xf32>
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<32x8xf32>
// CHECK-NEXT: }
fuseops.fusible @extra_output(%x: tensor<32x8xf32>) -> (tensor<32x8xf32>, tensor<32x8xf32>)
forward {
  %0 = fuseops.relu %x : tensor<32x8xf32>
  %1 = fuseops.scale %0 by(2.0) : tensor<32x8xf32>
  fuseops.return %1, %0 : tensor<32x8xf32>, tensor<32x8xf32>
}

// Of one that the loss does not use nothing comes in.
// CHECK-LABEL: fuseops.fusible @unused_extra_output(
// CHECK-SAME: %[[ARG0:.+]]: tensor<32x8xf32>) -> (tensor<32x8xf32>, tensor<32x8xf32>) attributes {frozen_results = array<i64: 1>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.relu %[[ARG0]] : tensor<32x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.scale %[[V0]] by(2.000000e+00) : tensor<32x8xf32>
// CHECK-NEXT:   fuseops.return %[[V1]], %[[V0]] save(%[[ARG0]]) : tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<32x8xf32>, saved %[[ARG1:.+]]: tensor<32x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.scale %[[ARG0]] by(2.000000e+00) : tensor<32x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.relu_grad %[[V0]], %[[ARG1]] : tensor<32x8xf32>
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<32x8xf32>
// CHECK-NEXT: }
fuseops.fusible @unused_extra_output(%x: tensor<32x8xf32>) -> (tensor<32x8xf32>, tensor<32x8xf32>) attributes {frozen_results = array<i64: 1>}
forward {
  %0 = fuseops.relu %x : tensor<32x8xf32>
  %1 = fuseops.scale %0 by(2.0) : tensor<32x8xf32>
  fuseops.return %1, %0 : tensor<32x8xf32>, tensor<32x8xf32>
}
