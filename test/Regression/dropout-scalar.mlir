// The words of the random state have no dimension where dropout's operand, a
// scalar, has none.
// RUN: fuse-opt %s --fuseops-perturb | FileCheck %s
// RUN: fuse-opt %s --fuseops-perturb | fuse-compile - --target=reference -o %t

// CHECK: %[[SEED:.+]] = fuseops.reshape %{{.+}} : tensor<1xi64> -> tensor<i64>
// CHECK: %[[OFFSET:.+]] = fuseops.reshape %{{.+}} : tensor<1xi64> -> tensor<i64>
// CHECK: fuseops.pointwise (%{{.+}} = %{{.+}}, %{{.+}} = %[[SEED]], %{{.+}} = %[[OFFSET]])
fuseops.fusible @f(%x: tensor<f32>, %s: tensor<2xi64> {fuseops.random_state}) -> tensor<f32>
forward {
  %y = fuseops.dropout %x, %s p(0.25) : tensor<f32>, tensor<2xi64>
  fuseops.return %y : tensor<f32>
}
