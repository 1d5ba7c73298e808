// RUN: not fuse-opt %s --convert-fuseops-to-kernels=target=tpu 2>&1 | FileCheck %s

// CHECK: error: expected target `cpu` or `cuda`, but got `tpu`
module {}
