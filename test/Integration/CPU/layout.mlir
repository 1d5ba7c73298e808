// Slices, permutations, concatenations and broadcasts that kernels read and
// write through, with a symbolic size in front and in the middle.
// RUN: fuse-run %s --target=cpu --size 3 --check

fuseops.fusible @main(%x: tensor<?x4x34xf32>, %y: tensor<4x1x17xf32>, %z: tensor<?x3x17xbf16>)
    -> (tensor<4x?x17xf32>, tensor<?x7x17xf32>, tensor<?x17x4xf32>, tensor<?x9xf32>)
forward {
  // A slice of a permutation, read by a kernel that broadcasts over `?`.
  %p = fuseops.permute %x order[1, 0, 2] : tensor<?x4x34xf32> -> tensor<4x?x34xf32>
  %s = fuseops.slice %p dim(2) offset(1) step(2) : tensor<4x?x34xf32> -> tensor<4x?x17xf32>
  %a = fuseops.mul %s, %y : tensor<4x?x17xf32>, tensor<4x1x17xf32> -> tensor<4x?x17xf32>
  // Inputs of two sizes along an inner dimension: read through.
  %q = fuseops.permute %a order[1, 0, 2] : tensor<4x?x17xf32> -> tensor<?x4x17xf32>
  %w = fuseops.cast %z : tensor<?x3x17xbf16> -> tensor<?x3x17xf32>
  %c = fuseops.concat %q, %w dim(1) : (tensor<?x4x17xf32>, tensor<?x3x17xf32>) -> tensor<?x7x17xf32>
  %d = fuseops.silu %c : tensor<?x7x17xf32>
  // Computed, then written in another order.
  %e = fuseops.silu %q : tensor<?x4x17xf32>
  %t = fuseops.permute %e order[0, 2, 1] : tensor<?x4x17xf32> -> tensor<?x17x4xf32>
  // The last nine columns of one row each, backwards.
  %f = fuseops.slice %d dim(1) offset(5) : tensor<?x7x17xf32> -> tensor<?x1x17xf32>
  %g = fuseops.reshape %f : tensor<?x1x17xf32> -> tensor<?x17xf32>
  %h = fuseops.slice %g dim(1) offset(16) step(-1) : tensor<?x17xf32> -> tensor<?x9xf32>
  fuseops.return %a, %d, %t, %h : tensor<4x?x17xf32>, tensor<?x7x17xf32>, tensor<?x17x4xf32>, tensor<?x9xf32>
}
