// LayerNorm (backward gives dx, dgamma and dbeta), and after dropout and a
// residual addition whose sum is a result too.

fuseops.fusible @layernorm(%x: tensor<?x4096xbf16>, %g: tensor<4096xbf16>, %b: tensor<4096xbf16>) -> tensor<?x4096xbf16>
forward {
  %y, %mean, %rstd = fuseops.layer_norm %x gamma(%g) beta(%b) eps(1.0e-5) : (tensor<?x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
  fuseops.return %y : tensor<?x4096xbf16>
}

fuseops.fusible @dropout_add_layernorm(%x: tensor<?x4096xbf16>, %r: tensor<?x4096xbf16>, %g: tensor<4096xbf16>, %b: tensor<4096xbf16>, %state: tensor<2xi64> {fuseops.random_state}) -> (tensor<?x4096xbf16>, tensor<?x4096xbf16>)
forward {
  %d = fuseops.dropout %x, %state p(0.1) : tensor<?x4096xbf16>, tensor<2xi64>
  %s = fuseops.add %d, %r : tensor<?x4096xbf16>, tensor<?x4096xbf16> -> tensor<?x4096xbf16>
  %y, %mean, %rstd = fuseops.layer_norm %s gamma(%g) beta(%b) eps(1.0e-5) : (tensor<?x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
  fuseops.return %y, %s : tensor<?x4096xbf16>, tensor<?x4096xbf16>
}
