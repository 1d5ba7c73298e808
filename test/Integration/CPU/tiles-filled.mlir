// RUN: fuse-run %s --check

fuseops.fusible @main(%x: tensor<300x700xf32> {fuseops.frozen}) -> tensor<6x4xf32>
forward {
  %a = fuseops.reduce_blocks %x block(128, 128) : tensor<300x700xf32> -> tensor<3x6xf32>
  %t = fuseops.permute %a order[1, 0] : tensor<3x6xf32> -> tensor<6x3xf32>
  %z = fuseops.pointwise () : () -> tensor<6x1xf32> {
    %c = arith.constant 2.5 : f32
    fuseops.yield %c : f32
  }
  %r = fuseops.concat %t, %z dim(1) : (tensor<6x3xf32>, tensor<6x1xf32>) -> tensor<6x4xf32>
  fuseops.return %r : tensor<6x4xf32>
}
