// RUN: not fuse-opt %s --convert-fuseops-to-kernels=target=tpu 2>&1 | FileCheck %s
// RUN: not fuse-opt %s --convert-fuseops-to-kernels="target=cuda chip=gfx90a" 2>&1 | FileCheck %s --check-prefix=CHIP

// CHECK: error: expected target `cpu` or `cuda`, but got `tpu`
// CHIP: error: expected a chip such as `sm_90a`, but got `gfx90a`
module {}
