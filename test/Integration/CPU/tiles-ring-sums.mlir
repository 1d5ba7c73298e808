// Sums over rows, of tiles that CUDA draws: as partial results of tiles.
// RUN: fuse-run %s --size 1 --check
// RUN: fuse-run %s --size 300 --check

fuseops.fusible @main(%x: tensor<?x392xbf16> {fuseops.frozen}, %v: tensor<392xf32> {fuseops.frozen}) -> (tensor<392x?xbf16>, tensor<392xf32>, tensor<f32>)
forward {
  %r:3 = fuseops.group @k tile schedule {stages = 3 : i64, tickets = 1 : i64, tile_partials = 1 : i64, workers = 2 : i64} (%a = %x, %c = %v) : (tensor<?x392xbf16>, tensor<392xf32>) -> (tensor<392x?xbf16>, tensor<392xf32>, tensor<f32>) {
    %y = fuseops.add %a, %c : tensor<?x392xbf16>, tensor<392xf32> -> tensor<?x392xbf16>
    %s = fuseops.reduce_rows sum %y : tensor<?x392xbf16> -> tensor<392xf32>
    %w = fuseops.amax %y : tensor<?x392xbf16> -> tensor<f32>
    %t = fuseops.permute %y order[1, 0] : tensor<?x392xbf16> -> tensor<392x?xbf16>
    fuseops.yield %t, %s, %w : tensor<392x?xbf16>, tensor<392xf32>, tensor<f32>
  }
  fuseops.return %r#0, %r#1, %r#2 : tensor<392x?xbf16>, tensor<392xf32>, tensor<f32>
}
