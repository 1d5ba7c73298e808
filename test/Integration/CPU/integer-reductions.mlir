// Sums, maxima and minima of integers, in i64, over rows and over columns.
// RUN: fuse-run %s --target=cpu --size 1 --check
// RUN: fuse-run %s --target=cpu --size 130 --check

fuseops.fusible @main(%a: tensor<?x40xi8>, %u: tensor<?x40xui8>, %l: tensor<?x2048xi64>) -> (tensor<?x1xi8>, tensor<?x1xui8>, tensor<?x1xui8>, tensor<?x1xi64>, tensor<40xi8>, tensor<40xi64>, tensor<40xui8>, tensor<40xi1>, tensor<?x1xi64>, tensor<?x1xi32>, tensor<2048xi64>)
forward {
  // Wraps.
  %sum = fuseops.reduce_columns sum %a : tensor<?x40xi8> -> tensor<?x1xi8>
  %max = fuseops.reduce_columns max %u : tensor<?x40xui8> -> tensor<?x1xui8>
  %min = fuseops.reduce_columns min %u : tensor<?x40xui8> -> tensor<?x1xui8>
  %wide = fuseops.reduce_columns sum %u : tensor<?x40xui8> -> tensor<?x1xi64>
  %rows_min = fuseops.reduce_rows min %a : tensor<?x40xi8> -> tensor<40xi8>
  %rows_sum = fuseops.reduce_rows sum %a : tensor<?x40xi8> -> tensor<40xi64>
  %rows_max = fuseops.reduce_rows max %u : tensor<?x40xui8> -> tensor<40xui8>
  %any = fuseops.reduce_rows sum %a : tensor<?x40xi8> -> tensor<40xi1>
  // Several warps a row.
  %long_sum = fuseops.reduce_columns sum %l : tensor<?x2048xi64> -> tensor<?x1xi64>
  %long_min = fuseops.reduce_columns min %l : tensor<?x2048xi64> -> tensor<?x1xi32>
  %long_rows = fuseops.reduce_rows max %l : tensor<?x2048xi64> -> tensor<2048xi64>
  fuseops.return %sum, %max, %min, %wide, %rows_min, %rows_sum, %rows_max, %any, %long_sum, %long_min, %long_rows : tensor<?x1xi8>, tensor<?x1xui8>, tensor<?x1xui8>, tensor<?x1xi64>, tensor<40xi8>, tensor<40xi64>, tensor<40xui8>, tensor<40xi1>, tensor<?x1xi64>, tensor<?x1xi32>, tensor<2048xi64>
}
