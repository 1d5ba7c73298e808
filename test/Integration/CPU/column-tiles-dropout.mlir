// A sum over rows of wide values: on CUDA blocks share a row, here with elements that are counted over the whole row.
// RUN: fuse-run %s --size 1 --check
// RUN: fuse-run %s --size 67 --check
fuseops.fusible @dropout(%x: tensor<?x520xf32>, %b: tensor<520xf32>, %s: tensor<2xi64> {fuseops.random_state}) -> tensor<?x520xf32>
forward {
  %z = fuseops.bias %x, %b : tensor<?x520xf32>, tensor<520xf32>
  %d = fuseops.dropout %z, %s p(0.3) : tensor<?x520xf32>, tensor<2xi64>
  %y = fuseops.relu %d : tensor<?x520xf32>
  fuseops.return %y : tensor<?x520xf32>
}
