// LayerNorm: backward gives dx, dgamma and dbeta.
fuseops.fusible @layernorm(%x: tensor<?x4096xbf16>, %g: tensor<4096xbf16>, %b: tensor<4096xbf16>) -> tensor<?x4096xbf16>
forward {
  %y, %mean, %rstd = fuseops.layer_norm %x gamma(%g) beta(%b) eps(1.0e-5) : (tensor<?x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
  fuseops.return %y : tensor<?x4096xbf16>
}
