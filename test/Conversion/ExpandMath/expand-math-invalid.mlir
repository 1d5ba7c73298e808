// RUN: not fuse-opt %s --fuseops-expand-math=target=rocm 2>&1 | FileCheck %s

// CHECK: expected target `cpu` or `nvvm`, but got `rocm`
func.func @f(%x: f32) -> f32 {
  return %x : f32
}
