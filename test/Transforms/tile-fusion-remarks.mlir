// Condition 6: a tile has no whole rows. Condition 8: tiles are slower.
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-forward-fusion --remarks-filter=fuseops-forward-fusion --verify-diagnostics -o %t

!blocks = tensor<?x256xf32, #fuseops.blocks<128>>

fuseops.fusible @statistics(%x: tensor<?x256xf32>) -> (tensor<?x1xf32>, !blocks)
forward {
  %s = fuseops.reduce_columns max %x : tensor<?x256xf32> -> tensor<?x1xf32>
  // expected-remark @below {{"fuseops.reduce_columns with fuseops.add: condition 6, a tile kernel reads statistics of rows that it would have to compute"}}
  %y = fuseops.add %x, %s : tensor<?x256xf32>, tensor<?x1xf32> -> tensor<?x256xf32>
  // expected-remark @below {{"fused fuseops.add with fuseops.reduce_blocks"}}
  %a = fuseops.reduce_blocks %y block(128, 1) : tensor<?x256xf32> -> !blocks
  fuseops.return %s, %a : tensor<?x1xf32>, !blocks
}

// Blocks along a row are no tiles: the kernel that has the row knows them.
fuseops.fusible @along(%x: tensor<?x256xf32>) -> (tensor<?x1xf32>, tensor<?x2xf32>)
forward {
  %s = fuseops.reduce_columns max %x : tensor<?x256xf32> -> tensor<?x1xf32>
  // expected-remark @below {{"fused fuseops.reduce_columns with fuseops.add"}}
  %y = fuseops.add %x, %s : tensor<?x256xf32>, tensor<?x1xf32> -> tensor<?x256xf32>
  // expected-remark @below {{"fused fuseops.add with fuseops.reduce_blocks"}}
  %a = fuseops.reduce_blocks %y block(1, 128) : tensor<?x256xf32> -> tensor<?x2xf32>
  fuseops.return %s, %a : tensor<?x1xf32>, tensor<?x2xf32>
}

// Two that only read one tensor are refused by it too.
fuseops.fusible @siblings(%x: tensor<?x256xf32>) -> (tensor<?x1xf32>, !blocks)
forward {
  %s = fuseops.reduce_columns max %x : tensor<?x256xf32> -> tensor<?x1xf32>
  // expected-remark @below {{"fuseops.reduce_columns with fuseops.reduce_blocks: condition 6, a tile kernel reads statistics of rows that it would have to compute"}}
  %a = fuseops.reduce_blocks %x block(128, 1) : tensor<?x256xf32> -> !blocks
  fuseops.return %s, %a : tensor<?x1xf32>, !blocks
}

// Blocks are no rows, though 128 columns of them look like one value a row.
fuseops.fusible @blocks(%x: tensor<?x128xf32>) -> tensor<?x128xf32>
forward {
  %a = fuseops.reduce_blocks %x block(1, 128) : tensor<?x128xf32> -> tensor<?x1xf32>
  // expected-remark @below {{"fuseops.reduce_blocks with fuseops.add: condition 2, their iteration spaces differ"}}
  %y = fuseops.add %x, %a : tensor<?x128xf32>, tensor<?x1xf32> -> tensor<?x128xf32>
  fuseops.return %y : tensor<?x128xf32>
}

// All that the elementwise kernel moves would move at the tiles' pace.
fuseops.fusible @slower(%x: tensor<?x256xf32>, %a: tensor<?x256xf32>, %b: tensor<?x256xf32>, %c: tensor<?x256xf32>, %d: tensor<?x256xf32>) -> (tensor<?x256xf32>, !blocks)
forward {
  %0 = fuseops.add %x, %a : tensor<?x256xf32>, tensor<?x256xf32> -> tensor<?x256xf32>
  // expected-remark @below {{"fused fuseops.add with fuseops.add"}}
  %1 = fuseops.add %0, %b : tensor<?x256xf32>, tensor<?x256xf32> -> tensor<?x256xf32>
  // expected-remark @below {{"fused fuseops.add with fuseops.add"}}
  %2 = fuseops.add %1, %c : tensor<?x256xf32>, tensor<?x256xf32> -> tensor<?x256xf32>
  // expected-remark @below {{"fused fuseops.add with fuseops.add"}}
  %3 = fuseops.add %2, %d : tensor<?x256xf32>, tensor<?x256xf32> -> tensor<?x256xf32>
  // expected-remark @below {{"fuseops.add with fuseops.reduce_blocks: condition 8, one kernel of both takes longer than two"}}
  %s = fuseops.reduce_blocks %x block(128, 1) : tensor<?x256xf32> -> !blocks
  fuseops.return %3, %s : tensor<?x256xf32>, !blocks
}
