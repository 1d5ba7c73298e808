// Bias and GELU; backward gives dx and the bias gradient.
fuseops.fusible @bias_gelu(%x: tensor<?x14336xbf16>, %b: tensor<14336xbf16>) -> tensor<?x14336xbf16>
forward {
  %z = fuseops.bias %x, %b : tensor<?x14336xbf16>, tensor<14336xbf16>
  %y = fuseops.gelu %z approximate(tanh) : tensor<?x14336xbf16>
  fuseops.return %y : tensor<?x14336xbf16>
}
