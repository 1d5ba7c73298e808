// One block a tile, of which the last ones have two columns.
// RUN: fuse-run %s --size 1 --check
// RUN: fuse-run %s --size 129 --check

fuseops.fusible @main(%x: tensor<?x130xf32> {fuseops.frozen}) -> (tensor<?x130xf32>, tensor<?x2xf32, #fuseops.blocks<128>>)
forward {
  %a = fuseops.reduce_blocks %x block(128, 128) : tensor<?x130xf32> -> tensor<?x2xf32, #fuseops.blocks<128>>
  %e = fuseops.expand_blocks %a block(128, 128) : tensor<?x2xf32, #fuseops.blocks<128>> -> tensor<?x130xf32>
  %y = fuseops.add %x, %e : tensor<?x130xf32>, tensor<?x130xf32> -> tensor<?x130xf32>
  fuseops.return %y, %a : tensor<?x130xf32>, tensor<?x2xf32, #fuseops.blocks<128>>
}
