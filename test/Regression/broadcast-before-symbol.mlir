// The gradient of a broadcast over what stands before `?` is a reduction of a
// permutation; it used to be a reshape that the verifier refused.
// RUN: fuse-run %s --target=cpu --size 3 --check
fuseops.fusible @f(%x: tensor<4x?x8xf32>, %s: tensor<?x1xf32>) -> tensor<4x?x8xf32>
forward {
  %y = fuseops.add %x, %s : tensor<4x?x8xf32>, tensor<?x1xf32> -> tensor<4x?x8xf32>
  fuseops.return %y : tensor<4x?x8xf32>
}
