// The program holds constants; kernels and products read them, forward and
// backward, which doesn't save them.
// RUN: fuse-run %s --target=cpu --size 5 --check | FileCheck %s
// RUN: fuse-compile %s --compile-to=input -o - | FileCheck %s --check-prefix=IR
// CHECK: forward_linear
// CHECK: check: ok

// IR: fuseops.constant dense_resource<bias> : tensor<3xf32>
// IR: bias: "0x040000000000003F000000BF0000C03F"
fuseops.fusible @constants(%x: tensor<?x4xf32>) -> tensor<?x3xf32>
forward {
  %w = fuseops.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 1.0, -1.0, 0.5]]> : tensor<3x4xf32>
  %b = fuseops.constant dense_resource<bias> : tensor<3xf32>
  %k = fuseops.constant dense<[true, false, true]> : tensor<3xi1>
  %y = fuseops.linear %x, %w bias(%b) : (tensor<?x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %z = fuseops.mul %y, %b : tensor<?x3xf32>, tensor<3xf32> -> tensor<?x3xf32>
  %m = fuseops.pointwise (%a = %z, %keep = %k) : (tensor<?x3xf32>, tensor<3xi1>) -> tensor<?x3xf32> {
    %zero = arith.constant 0.0 : f32
    %s = arith.select %keep, %a, %zero : f32
    fuseops.yield %s : f32
  }
  fuseops.return %m : tensor<?x3xf32>
}

{-#
  dialect_resources: { builtin: { bias: "0x040000000000003F000000BF0000C03F" } }
#-}
