// RUN: fuse-run %s --size 127 --check
// RUN: fuse-run %s --size 300 --check

fuseops.fusible @main(%x: tensor<?x200xbf16> {fuseops.frozen}, %r: tensor<?x1xf32> {fuseops.frozen}) -> (tensor<200xf32>, tensor<f32>, tensor<1xf32>, tensor<?x1xf32>, tensor<?x7xf32>)
forward {
  %y = fuseops.mul %x, %r : tensor<?x200xbf16>, tensor<?x1xf32> -> tensor<?x200xf32>
  %n = fuseops.relu %r : tensor<?x1xf32>
  %d = fuseops.reduce_rows sum %y : tensor<?x200xf32> -> tensor<200xf32>
  %m = fuseops.amax %y : tensor<?x200xf32> -> tensor<f32>
  %o = fuseops.reduce_rows sum %n : tensor<?x1xf32> -> tensor<1xf32>
  %a = fuseops.reduce_blocks %y block(1, 32) : tensor<?x200xf32> -> tensor<?x7xf32>
  fuseops.return %d, %m, %o, %n, %a : tensor<200xf32>, tensor<f32>, tensor<1xf32>, tensor<?x1xf32>, tensor<?x7xf32>
}
