// A call of backward in which gradients of results are missing takes what forward
// saves for all of them, in the same order.
// RUN: fuse-opt %s --fuseops-differentiate | FileCheck %s
// RUN: fuse-opt %s --pass-pipeline="builtin.module(fuseops-differentiate,fuseops.fusible(fuseops-plan-saved))" | FileCheck %s --check-prefixes=CHECK,PLAN

// What only the missing gradient needs has no use, but keeps its place.
// CHECK-LABEL: fuseops.fusible @first(
// CHECK-SAME:    frozen_results = array<i64: 0>, missing_gradients = array<i64: 0>
// CHECK:         fuseops.return %{{.+}}, %{{.+}} save(%[[Y:.+]], %[[X:.+]]) :
// CHECK-NEXT:  }
// CHECK-NEXT:  backward (%[[DC:.+]]: tensor<4x8xf32>, saved %[[SY:.+]]: tensor<4x8xf32>, saved %{{.+}}: tensor<4x8xf32>) {
// CHECK-NEXT:    %[[DY:.+]] = fuseops.gelu_grad %[[DC]], %[[SY]] approximate(none)
// CHECK-NEXT:    fuseops.return none, %[[DY]] : tensor<4x8xf32>
fuseops.fusible @first(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) attributes {missing_gradients = array<i64: 0>}
forward {
  %s = fuseops.silu %x : tensor<4x8xf32>
  %c = fuseops.gelu %y approximate(none) : tensor<4x8xf32>
  fuseops.return %s, %c : tensor<4x8xf32>, tensor<4x8xf32>
}

// What is recomputed for the missing gradient only goes.
// CHECK-LABEL: fuseops.fusible @recomputed(
// PLAN:          save(%[[X:.+]]) :
// PLAN:        backward (%[[DY:.+]]: tensor<4x8xf32>, saved %[[SX:.+]]: tensor<4x8xf32>) {
// PLAN-NEXT:     %[[DX:.+]] = fuseops.gelu_grad %[[DY]], %[[SX]] approximate(none)
// PLAN-NEXT:     fuseops.return %[[DX]]
fuseops.fusible @recomputed(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) attributes {missing_gradients = array<i64: 1>}
forward {
  %y = fuseops.gelu %x approximate(none) : tensor<4x8xf32>
  %z = fuseops.mul %y, %y : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  fuseops.return %y, %z : tensor<4x8xf32>, tensor<4x8xf32>
}

// Without any there are no gradients.
// CHECK-LABEL: fuseops.fusible @all(
// CHECK:       backward (saved
// CHECK-NEXT:    fuseops.return none
fuseops.fusible @all(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {missing_gradients = array<i64: 0>}
forward {
  %y = fuseops.silu %x : tensor<4x8xf32>
  fuseops.return %y : tensor<4x8xf32>
}
