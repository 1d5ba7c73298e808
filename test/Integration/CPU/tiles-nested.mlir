// RUN: fuse-run %s --size 257 --check

fuseops.fusible @main(%x: tensor<?x150xf32> {fuseops.frozen}) -> (tensor<?x150xf32>, tensor<?x2xf32>)
forward {
  %a = fuseops.reduce_blocks %x block(1, 128) : tensor<?x150xf32> -> tensor<?x2xf32>
  %e = fuseops.expand_blocks %a block(1, 128) : tensor<?x2xf32> -> tensor<?x150xf32>
  %y = fuseops.add %e, %x : tensor<?x150xf32>, tensor<?x150xf32> -> tensor<?x150xf32>
  %b = fuseops.reduce_blocks %y block(1, 128) : tensor<?x150xf32> -> tensor<?x2xf32>
  %s = fuseops.add %a, %b : tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2xf32>
  %f = fuseops.expand_blocks %s block(1, 128) : tensor<?x2xf32> -> tensor<?x150xf32>
  %z = fuseops.mul %y, %f : tensor<?x150xf32>, tensor<?x150xf32> -> tensor<?x150xf32>
  fuseops.return %z, %b : tensor<?x150xf32>, tensor<?x2xf32>
}
