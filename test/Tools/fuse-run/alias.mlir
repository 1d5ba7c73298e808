// Values that are an argument, an earlier result or an incoming gradient are
// recorded as that, and none is copied.
// RUN: fuse-run %s --size 5 --check | FileCheck %s
// An entry without kernels has no times.
// RUN: fuse-run %s --size 5 --time | FileCheck %s --check-prefix=TIME

// CHECK-NOT: pointwise
// CHECK: forward: 0 B moved
// CHECK: result0{{ +}}f32{{ +}}[5x4x2]
// CHECK: result1
// CHECK: grad_arg1
// CHECK: check: ok
// TIME-NOT: us a run
// TIME: forward: 0 B moved
// TIME-NOT: us a run
// TIME: a copy here moves
fuseops.fusible @f(%x: tensor<?x8xf32>, %b: tensor<?x8xf32>) -> (tensor<?x4x2xf32>, tensor<?x8xf32>)
forward {
  %y = fuseops.reshape %x : tensor<?x8xf32> -> tensor<?x4x2xf32>
  fuseops.return %y, %b save(%b) : tensor<?x4x2xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}
backward (%dy: tensor<?x4x2xf32>, %db: tensor<?x8xf32>, saved %b: tensor<?x8xf32>) {
  %dx = fuseops.reshape %dy : tensor<?x4x2xf32> -> tensor<?x8xf32>
  fuseops.return %dx, %db : tensor<?x8xf32>, tensor<?x8xf32>
}
