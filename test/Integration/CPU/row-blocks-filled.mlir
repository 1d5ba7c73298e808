// What blocks along a row are joined with has no row: a worker writes it.
// RUN: fuse-run %s --check

fuseops.fusible @main(%x: tensor<300x700xf32> {fuseops.frozen}) -> tensor<6x304xf32>
forward {
  %y = fuseops.group @k row (%v = %x) : (tensor<300x700xf32>) -> tensor<6x304xf32> {
    %a = fuseops.reduce_blocks %v block(1, 128) : tensor<300x700xf32> -> tensor<300x6xf32>
    %t = fuseops.permute %a order[1, 0] : tensor<300x6xf32> -> tensor<6x300xf32>
    %z = fuseops.pointwise () : () -> tensor<6x4xf32> {
      %c = arith.constant 2.5 : f32
      fuseops.yield %c : f32
    }
    %r = fuseops.concat %t, %z dim(1) : (tensor<6x300xf32>, tensor<6x4xf32>) -> tensor<6x304xf32>
    fuseops.yield %r : tensor<6x304xf32>
  }
  fuseops.return %y : tensor<6x304xf32>
}
