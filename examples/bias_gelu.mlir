// y = gelu(x + b), the erf kind, for any number of rows.
fuseops.fusible @bias_gelu(%x: tensor<?x256xf32>, %b: tensor<256xf32>) -> tensor<?x256xf32>
forward {
  %s = fuseops.add %x, %b : tensor<?x256xf32>, tensor<256xf32> -> tensor<?x256xf32>
  %y = fuseops.gelu %s approximate(none) : tensor<?x256xf32>
  fuseops.return %y : tensor<?x256xf32>
}
