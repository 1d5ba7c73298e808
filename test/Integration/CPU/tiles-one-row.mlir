// RUN: fuse-run %s --check

fuseops.fusible @main(%x: tensor<1x200xf32> {fuseops.frozen}) -> (tensor<1x200xf32>, tensor<200x1xf32>)
forward {
  %a = fuseops.reduce_blocks %x block(128, 1) : tensor<1x200xf32> -> tensor<1x200xf32>
  %b = fuseops.reduce_blocks %x block(1, 128) : tensor<1x200xf32> -> tensor<1x2xf32>
  %ea = fuseops.expand_blocks %a block(128, 1) : tensor<1x200xf32> -> tensor<1x200xf32>
  %eb = fuseops.expand_blocks %b block(1, 128) : tensor<1x2xf32> -> tensor<1x200xf32>
  %y = fuseops.add %ea, %eb : tensor<1x200xf32>, tensor<1x200xf32> -> tensor<1x200xf32>
  %t = fuseops.permute %y order[1, 0] : tensor<1x200xf32> -> tensor<200x1xf32>
  fuseops.return %y, %t : tensor<1x200xf32>, tensor<200x1xf32>
}
