// A kernel of tiles has none of them where a matrix has no columns; compiling it
// did not end.
// RUN: fuse-run %s --target=cpu --check
// RUN: fuse-compile %s --target=cuda:sm_90a --emit=ptx -o %t
fuseops.fusible @f(%x: tensor<5x0xf32>) -> tensor<0x5xf32>
forward {
  %y = fuseops.permute %x order[1, 0] : tensor<5x0xf32> -> tensor<0x5xf32>
  %z = fuseops.pointwise (%v = %y) : (tensor<0x5xf32>) -> tensor<0x5xf32> {
    %e = arith.addf %v, %v : f32
    fuseops.yield %e : f32
  }
  fuseops.return %z : tensor<0x5xf32>
}
