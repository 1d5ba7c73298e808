// RUN: fuse-run %s --size 260 --check

fuseops.fusible @main(%x: tensor<?x1xf32> {fuseops.frozen}) -> (tensor<?x1xf32>, tensor<?x1xf32, #fuseops.blocks<128>>)
forward {
  %a = fuseops.reduce_blocks %x block(128, 1) : tensor<?x1xf32> -> tensor<?x1xf32, #fuseops.blocks<128>>
  %e = fuseops.expand_blocks %a block(128, 1) : tensor<?x1xf32, #fuseops.blocks<128>> -> tensor<?x1xf32>
  %y = fuseops.add %x, %e : tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x1xf32>
  fuseops.return %y, %a : tensor<?x1xf32>, tensor<?x1xf32, #fuseops.blocks<128>>
}
