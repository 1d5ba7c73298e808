// Inputs that CUDA fetches ahead: two slots, and two blocks that visit many tiles.
// The last rows and columns of tiles are cut off.
// RUN: fuse-run %s --size 1 --check
// RUN: fuse-run %s --size 300 --check

fuseops.fusible @main(%x: tensor<?x392xbf16> {fuseops.frozen}, %g: tensor<?x392xbf16> {fuseops.frozen}) -> (tensor<?x392xbf16>, tensor<392x?xbf16>, tensor<?x4xf32>, tensor<?x392xf32, #fuseops.blocks<128>>)
forward {
  %r:4 = fuseops.group @k tile schedule {stages = 2 : i64, workers = 2 : i64} (%a = %x, %c = %g) : (tensor<?x392xbf16>, tensor<?x392xbf16>) -> (tensor<?x392xbf16>, tensor<392x?xbf16>, tensor<?x4xf32>, tensor<?x392xf32, #fuseops.blocks<128>>) {
    %s = fuseops.silu %a : tensor<?x392xbf16>
    %y = fuseops.mul %s, %c : tensor<?x392xbf16>, tensor<?x392xbf16> -> tensor<?x392xbf16>
    %w = fuseops.pointwise (%e = %y) : (tensor<?x392xbf16>) -> tensor<?x392xf32> {
      %n = math.absf %e : f32
      fuseops.yield %n : f32
    }
    %m = fuseops.reduce_blocks %w block(1, 128) : tensor<?x392xf32> -> tensor<?x4xf32>
    %n = fuseops.reduce_blocks %w block(128, 1) : tensor<?x392xf32> -> tensor<?x392xf32, #fuseops.blocks<128>>
    %em = fuseops.expand_blocks %m block(1, 128) : tensor<?x4xf32> -> tensor<?x392xf32>
    %en = fuseops.expand_blocks %n block(128, 1) : tensor<?x392xf32, #fuseops.blocks<128>> -> tensor<?x392xf32>
    %p = fuseops.mul %y, %em : tensor<?x392xbf16>, tensor<?x392xf32> -> tensor<?x392xbf16>
    %q = fuseops.add %y, %en : tensor<?x392xbf16>, tensor<?x392xf32> -> tensor<?x392xbf16>
    %t = fuseops.permute %q order[1, 0] : tensor<?x392xbf16> -> tensor<392x?xbf16>
    fuseops.yield %p, %t, %m, %n : tensor<?x392xbf16>, tensor<392x?xbf16>, tensor<?x4xf32>, tensor<?x392xf32, #fuseops.blocks<128>>
  }
  fuseops.return %r#0, %r#1, %r#2, %r#3 : tensor<?x392xbf16>, tensor<392x?xbf16>, tensor<?x4xf32>, tensor<?x392xf32, #fuseops.blocks<128>>
}
