// A power of two is found in the bits of an f32, also by the reference, which
// computes in f64.
// RUN: fuse-opt %s --fuseops-perturb | fuse-compile - --target=reference -o %t
// RUN: fuse-opt %s --pass-pipeline='builtin.module(fuseops.fusible(fuseops-perturb,fuseops-reference))' | FileCheck %s

// CHECK: %[[NARROW:.+]] = arith.truncf %{{.+}} : f64 to f32
// CHECK: arith.bitcast %[[NARROW]] : f32 to i32
// CHECK: arith.bitcast %{{.+}} : i32 to f32
// CHECK-NEXT: arith.extf %{{.+}} : f32 to f64
fuseops.fusible @f(%a: tensor<4xf32>) -> tensor<4xf32>
forward {
  %s = fuseops.compute_scale %a format(f8E5M2) power_of_two : tensor<4xf32>
  fuseops.return %s : tensor<4xf32>
}
