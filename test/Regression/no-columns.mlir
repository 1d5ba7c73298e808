// Tensors without elements launch nothing; their gradients are empty too.
// RUN: fuse-run %s --target=cpu --size 3 --check
// RUN: fuse-compile %s --target=cuda:sm_90a --emit=ptx -o %t
fuseops.fusible @f(%x: tensor<?x0xf32>, %b: tensor<0xf32>) -> tensor<?x0xf32>
forward {
  %y = fuseops.bias %x, %b : tensor<?x0xf32>, tensor<0xf32>
  fuseops.return %y : tensor<?x0xf32>
}
