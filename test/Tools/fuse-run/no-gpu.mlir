// UNSUPPORTED: cuda
// RUN: not fuse-run %s --target=cuda 2>&1 | FileCheck %s
// RUN: fuse-compile %s --target=cuda -o %t.fuseops
// RUN: not fuse-run %t.fuseops 2>&1 | FileCheck %s
// RUN: fuse-run --list-devices | FileCheck %s --check-prefix=DEVICES

// CHECK: error: {{.*}}CUDA
// DEVICES: cpu:0
// DEVICES-NOT: cuda
fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  %y = fuseops.silu %x : tensor<?x8xf32>
  fuseops.return %y : tensor<?x8xf32>
}
