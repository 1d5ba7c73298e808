// RUN: fuse-opt --convert-torch-to-fuseops %s | FileCheck %s

// The recipe of a function is that of the fusible; a contraction has that of the
// call that it stems from, and nothing else has.

// CHECK-LABEL: fuseops.fusible @recipes
// CHECK-SAME: attributes {fuseops.recipe = #fuseops.recipe<current, power_of_two = true>}
func.func @recipes(%x: !torch.vtensor<[2,16],f32>, %w: !torch.vtensor<[16,16],f32>) -> !torch.vtensor<[2,16],f32>
    attributes {fuseops.recipe = #fuseops.recipe<current, power_of_two = true>} {
  %none = torch.constant.none
  // CHECK: fuseops.linear {{[^{]*}} {fuseops.recipe = #fuseops.recipe<rowwise>}
  %0 = torch.aten.linear %x, %w, %none {fuseops.recipe = #fuseops.recipe<rowwise>} : !torch.vtensor<[2,16],f32>, !torch.vtensor<[16,16],f32>, !torch.none -> !torch.vtensor<[2,16],f32>
  // CHECK-NOT: fuseops.silu {{.*}}recipe
  %1 = torch.aten.silu %0 {fuseops.recipe = #fuseops.recipe<none>} : !torch.vtensor<[2,16],f32> -> !torch.vtensor<[2,16],f32>
  // CHECK: fuseops.matmul {{[^{]*}} {fuseops.recipe = #fuseops.recipe<none>}
  %2 = torch.aten.mm %1, %w {fuseops.recipe = #fuseops.recipe<none>} : !torch.vtensor<[2,16],f32>, !torch.vtensor<[16,16],f32> -> !torch.vtensor<[2,16],f32>
  // CHECK: fuseops.linear %{{[^{]*}} :
  %3 = torch.aten.linear %2, %w, %none : !torch.vtensor<[2,16],f32>, !torch.vtensor<[16,16],f32>, !torch.none -> !torch.vtensor<[2,16],f32>
  return %3 : !torch.vtensor<[2,16],f32>
}
