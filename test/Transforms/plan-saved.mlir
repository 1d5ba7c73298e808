// RUN: fuse-opt %s --fuseops-plan-saved | FileCheck %s

// CHECK-LABEL: fuseops.fusible @drops_unused(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.mul %[[ARG0]], %[[ARG1]] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG1]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.mul %[[ARG0]], %[[ARG1]] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]], none : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @drops_unused(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.mul %x, %y : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  fuseops.return %z save(%x, %y, %z) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
backward (%dz: tensor<4x8xf32>, saved %x: tensor<4x8xf32>, saved %y: tensor<4x8xf32>, saved %z: tensor<4x8xf32>) {
  %dx = fuseops.mul %dz, %y : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  fuseops.return %dx, none : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @merges_equal(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]], %[[ARG1]]) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>, saved %[[ARG2:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu_grad %[[ARG0]], %[[ARG1]] : tensor<4x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.silu_grad %[[V0]], %[[ARG2]] : tensor<4x8xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.silu_grad %[[V1]], %[[ARG1]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V2]], none : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @merges_equal(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.silu %x : tensor<4x8xf32>
  fuseops.return %z save(%x, %y, %x) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
backward (%dz: tensor<4x8xf32>, saved %a: tensor<4x8xf32>, saved %b: tensor<4x8xf32>, saved %c: tensor<4x8xf32>) {
  %0 = fuseops.silu_grad %dz, %a : tensor<4x8xf32>
  %1 = fuseops.silu_grad %0, %b : tensor<4x8xf32>
  %2 = fuseops.silu_grad %1, %c : tensor<4x8xf32>
  fuseops.return %2, none : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @drops_first_of_two_equal(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu_grad %[[ARG0]], %[[ARG1]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @drops_first_of_two_equal(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.silu %x : tensor<4x8xf32>
  fuseops.return %z save(%x, %x) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
backward (%dz: tensor<4x8xf32>, saved %a: tensor<4x8xf32>, saved %b: tensor<4x8xf32>) {
  %0 = fuseops.silu_grad %dz, %b : tensor<4x8xf32>
  fuseops.return %0 : tensor<4x8xf32>
}

// A saved value that backward returns is used.
// CHECK-LABEL: fuseops.fusible @returned_by_backward(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   fuseops.return %[[ARG1]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @returned_by_backward(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.silu %x : tensor<4x8xf32>
  fuseops.return %z save(%x) : tensor<4x8xf32>, tensor<4x8xf32>
}
backward (%dz: tensor<4x8xf32>, saved %a: tensor<4x8xf32>) {
  fuseops.return %a : tensor<4x8xf32>
}

// The gradients of the results stay, used or not.
// CHECK-LABEL: fuseops.fusible @keeps_gradients(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   fuseops.return none
// CHECK-NEXT: }
fuseops.fusible @keeps_gradients(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.silu %x : tensor<4x8xf32>
  fuseops.return %z save(%z) : tensor<4x8xf32>, tensor<4x8xf32>
}
backward (%dz: tensor<4x8xf32>, saved %a: tensor<4x8xf32>) {
  fuseops.return none
}

// CHECK-LABEL: fuseops.fusible @no_backward(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]], %[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @no_backward(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.silu %x : tensor<4x8xf32>
  fuseops.return %z save(%x, %x) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// One pointwise operation on what is saved anyway is computed again.
// CHECK-LABEL: fuseops.fusible @recomputes_pointwise(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG1]] {fuseops.recomputed} : tensor<4x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.silu_grad %[[ARG0]], %[[ARG1]] : tensor<4x8xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.mul %[[V1]], %[[V0]] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @recomputes_pointwise(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.silu %x : tensor<4x8xf32>
  fuseops.return %z save(%x, %z) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
backward (%dz: tensor<4x8xf32>, saved %x: tensor<4x8xf32>, saved %z: tensor<4x8xf32>) {
  %0 = fuseops.silu_grad %dz, %x : tensor<4x8xf32>
  %1 = fuseops.mul %0, %z : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  fuseops.return %1 : tensor<4x8xf32>
}

// A chain of them, whatever the order in which they are saved.
// CHECK-LABEL: fuseops.fusible @recomputes_chain(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.relu %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V1]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG1]] {fuseops.recomputed} : tensor<4x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.relu %[[V0]] {fuseops.recomputed} : tensor<4x8xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.relu_grad %[[ARG0]], %[[V1]] : tensor<4x8xf32>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.silu_grad %[[V2]], %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.silu_grad %[[V3]], %[[ARG1]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V4]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @recomputes_chain(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %a = fuseops.silu %x : tensor<4x8xf32>
  %b = fuseops.relu %a : tensor<4x8xf32>
  fuseops.return %b save(%b, %x, %a) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
backward (%dz: tensor<4x8xf32>, saved %b: tensor<4x8xf32>, saved %x: tensor<4x8xf32>, saved %a: tensor<4x8xf32>) {
  %0 = fuseops.relu_grad %dz, %b : tensor<4x8xf32>
  %1 = fuseops.silu_grad %0, %a : tensor<4x8xf32>
  %2 = fuseops.silu_grad %1, %x : tensor<4x8xf32>
  fuseops.return %2 : tensor<4x8xf32>
}

// Not what would read more than is saved, and no reduction.
// CHECK-LABEL: fuseops.fusible @keeps_what_is_dear(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.mul %[[ARG0]], %[[ARG1]] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reduce_columns max %[[ARG0]] : tensor<4x8xf32> -> tensor<4x1xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]], %[[V0]], %[[V1]]) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x1xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>, saved %[[ARG2:.+]]: tensor<4x8xf32>, saved %[[ARG3:.+]]: tensor<4x1xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.relu_grad %[[ARG0]], %[[ARG1]] : tensor<4x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.relu_grad %[[V0]], %[[ARG2]] : tensor<4x8xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.mul %[[V1]], %[[ARG3]] : tensor<4x8xf32>, tensor<4x1xf32> -> tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V2]], none : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @keeps_what_is_dear(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %a = fuseops.mul %x, %y : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %m = fuseops.reduce_columns max %x : tensor<4x8xf32> -> tensor<4x1xf32>
  fuseops.return %a save(%x, %a, %m) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x1xf32>
}
backward (%dz: tensor<4x8xf32>, saved %x: tensor<4x8xf32>, saved %a: tensor<4x8xf32>, saved %m: tensor<4x1xf32>) {
  %0 = fuseops.relu_grad %dz, %x : tensor<4x8xf32>
  %1 = fuseops.relu_grad %0, %a : tensor<4x8xf32>
  %2 = fuseops.mul %1, %m : tensor<4x8xf32>, tensor<4x1xf32> -> tensor<4x8xf32>
  fuseops.return %2, none : tensor<4x8xf32>
}

// The argument is saved in place of its slices, which are read there.
// CHECK-LABEL: fuseops.fusible @slices_of_an_argument(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>) -> tensor<?x4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(0) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(4) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.silu %[[V0]] : tensor<?x4xbf16>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.mul %[[V2]], %[[V1]] : tensor<?x4xbf16>, tensor<?x4xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V3]] save(%[[ARG0]]) : tensor<?x4xbf16>, tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x4xbf16>, saved %[[ARG1:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.slice %[[ARG1]] dim(1) offset(0) {fuseops.recomputed} : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.slice %[[ARG1]] dim(1) offset(4) {fuseops.recomputed} : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.silu %[[V0]] {fuseops.recomputed} : tensor<?x4xbf16>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.mul %[[ARG0]], %[[V1]] : tensor<?x4xbf16>, tensor<?x4xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.mul %[[ARG0]], %[[V2]] : tensor<?x4xbf16>, tensor<?x4xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V5:.+]] = fuseops.silu_grad %[[V3]], %[[V0]] : tensor<?x4xbf16>
// CHECK-NEXT:   %[[V6:.+]] = fuseops.concat %[[V5]], %[[V4]] dim(1) : (tensor<?x4xbf16>, tensor<?x4xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V6]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @slices_of_an_argument(%x: tensor<?x8xbf16>) -> tensor<?x4xbf16>
forward {
  %a = fuseops.slice %x dim(1) offset(0) : tensor<?x8xbf16> -> tensor<?x4xbf16>
  %b = fuseops.slice %x dim(1) offset(4) : tensor<?x8xbf16> -> tensor<?x4xbf16>
  %s = fuseops.silu %a : tensor<?x4xbf16>
  %y = fuseops.mul %s, %b : tensor<?x4xbf16>, tensor<?x4xbf16> -> tensor<?x4xbf16>
  fuseops.return %y save(%b, %s, %a) : tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>
}
backward (%dy: tensor<?x4xbf16>, saved %b: tensor<?x4xbf16>, saved %s: tensor<?x4xbf16>, saved %a: tensor<?x4xbf16>) {
  %0 = fuseops.mul %dy, %b : tensor<?x4xbf16>, tensor<?x4xbf16> -> tensor<?x4xbf16>
  %1 = fuseops.mul %dy, %s : tensor<?x4xbf16>, tensor<?x4xbf16> -> tensor<?x4xbf16>
  %2 = fuseops.silu_grad %0, %a : tensor<?x4xbf16>
  %3 = fuseops.concat %2, %1 dim(1) : (tensor<?x4xbf16>, tensor<?x4xbf16>) -> tensor<?x8xbf16>
  fuseops.return %3 : tensor<?x8xbf16>
}

// What is sliced lies in memory already.
// CHECK-LABEL: fuseops.fusible @slice_of_a_computed_value(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<8x8xbf16>) -> tensor<?x4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.matmul %[[ARG0]], %[[ARG1]] : tensor<?x8xbf16>, tensor<8x8xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.slice %[[V0]] dim(1) offset(0) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.silu %[[V1]] : tensor<?x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V2]] save(%[[V0]]) : tensor<?x4xbf16>, tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x4xbf16>, saved %[[ARG1:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.slice %[[ARG1]] dim(1) offset(0) {fuseops.recomputed} : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.silu_grad %[[ARG0]], %[[V0]] : tensor<?x4xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.concat %[[V1]], %[[V1]] dim(1) : (tensor<?x4xbf16>, tensor<?x4xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V2]], none : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @slice_of_a_computed_value(%x: tensor<?x8xbf16>, %w: tensor<8x8xbf16>) -> tensor<?x4xbf16>
forward {
  %m = fuseops.matmul %x, %w : tensor<?x8xbf16>, tensor<8x8xbf16> -> tensor<?x8xbf16>
  %a = fuseops.slice %m dim(1) offset(0) : tensor<?x8xbf16> -> tensor<?x4xbf16>
  %y = fuseops.silu %a : tensor<?x4xbf16>
  fuseops.return %y save(%a) : tensor<?x4xbf16>, tensor<?x4xbf16>
}
backward (%dy: tensor<?x4xbf16>, saved %a: tensor<?x4xbf16>) {
  %0 = fuseops.silu_grad %dy, %a : tensor<?x4xbf16>
  %1 = fuseops.concat %0, %0 dim(1) : (tensor<?x4xbf16>, tensor<?x4xbf16>) -> tensor<?x8xbf16>
  fuseops.return %1, none : tensor<?x8xbf16>
}

// What only an operation without readers reads is not saved.
// CHECK-LABEL: fuseops.fusible @unread(
// CHECK: fuseops.return %{{.+}} save(%{{[^,]+}}) : tensor<?x8xbf16>, tensor<?x8xbf16>
// CHECK: backward (%{{.+}}: tensor<?x8xbf16>, saved %{{.+}}: tensor<?x8xbf16>) {
// CHECK-NEXT: fuseops.silu_grad
// CHECK-NEXT: fuseops.return
fuseops.fusible @unread(%x: tensor<?x8xbf16>, %w: tensor<8x8xbf16>) -> tensor<?x8xbf16>
forward {
  %m = fuseops.matmul %x, %w : tensor<?x8xbf16>, tensor<8x8xbf16> -> tensor<?x8xbf16>
  %y = fuseops.silu %x : tensor<?x8xbf16>
  %z = fuseops.add %y, %m : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  fuseops.return %z save(%x, %m) : tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x8xbf16>
}
backward (%dy: tensor<?x8xbf16>, saved %x: tensor<?x8xbf16>, saved %m: tensor<?x8xbf16>) {
  %0 = fuseops.silu_grad %dy, %x : tensor<?x8xbf16>
  %1 = fuseops.reshape %m : tensor<?x8xbf16> -> tensor<?x2x4xbf16>
  fuseops.return %0, none : tensor<?x8xbf16>
}

// What is compared with its maximum is computed again of saved values only:
// forward stores %u, rounded, for the product.
// CHECK-LABEL: fuseops.fusible @compared(
// CHECK: %[[U:.+]] = fuseops.add
// CHECK: fuseops.return %{{.+}} save({{.*}}%[[U]]{{.*}})
// CHECK: backward
// CHECK-NEXT: fuseops.mul %{{.+}}, %{{.+}} {fuseops.recomputed}
// CHECK-NOT: fuseops.recomputed
fuseops.fusible @compared(%a: tensor<?x8xbf16>, %b: tensor<?x8xbf16>, %w: tensor<8x8xbf16>) -> (tensor<?x1xbf16>, tensor<?x8xbf16>)
forward {
  %u = fuseops.add %a, %b : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  %v = fuseops.mul %u, %b : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  %m = fuseops.reduce_columns max %v : tensor<?x8xbf16> -> tensor<?x1xbf16>
  %l = fuseops.linear %u, %w : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
  fuseops.return %m, %l save(%a, %b, %u, %v, %m) : tensor<?x1xbf16>, tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x1xbf16>
}
backward (%dm: tensor<?x1xbf16>, %dl: tensor<?x8xbf16>, saved %a: tensor<?x8xbf16>, saved %b: tensor<?x8xbf16>, saved %u: tensor<?x8xbf16>, saved %v: tensor<?x8xbf16>, saved %m: tensor<?x1xbf16>) {
  %0 = fuseops.mul %v, %m : tensor<?x8xbf16>, tensor<?x1xbf16> -> tensor<?x8xbf16>
  %1 = fuseops.mul %0, %u : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  %2 = fuseops.mul %a, %b : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  fuseops.return %1, %2, none : tensor<?x8xbf16>, tensor<?x8xbf16>
}

// The product lies in memory, its sum with the bias would only to be saved.
// CHECK-LABEL: fuseops.fusible @biased(
// CHECK: %[[M:.+]] = fuseops.linear
// CHECK: fuseops.return %{{.+}} save(%[[M]], %{{.+}}) : tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<8xbf16>
// CHECK: backward
// CHECK-NEXT: %[[H:.+]] = fuseops.bias %{{.+}}, %{{.+}} {fuseops.recomputed}
// CHECK-NEXT: fuseops.silu_grad %{{.+}}, %[[H]]
fuseops.fusible @biased(%x: tensor<?x8xbf16>, %w: tensor<8x8xbf16> {fuseops.frozen}, %b: tensor<8xbf16>) -> tensor<?x8xbf16>
forward {
  %m = fuseops.linear %x, %w : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
  %h = fuseops.bias %m, %b : tensor<?x8xbf16>, tensor<8xbf16>
  %y = fuseops.silu %h : tensor<?x8xbf16>
  fuseops.return %y save(%h) : tensor<?x8xbf16>, tensor<?x8xbf16>
}
backward (%dy: tensor<?x8xbf16>, saved %h: tensor<?x8xbf16>) {
  %0 = fuseops.silu_grad %dy, %h : tensor<?x8xbf16>
  fuseops.return %0, none, none : tensor<?x8xbf16>
}
