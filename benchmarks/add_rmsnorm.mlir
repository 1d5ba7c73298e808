// Residual addition and RMSNorm; the sum is a result too, so that backward adds
// the residual's gradient.
fuseops.fusible @add_rmsnorm(%x: tensor<?x4096xbf16>, %r: tensor<?x4096xbf16>, %g: tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x4096xbf16>)
forward {
  %s = fuseops.add %x, %r : tensor<?x4096xbf16>, tensor<?x4096xbf16> -> tensor<?x4096xbf16>
  %y, %rstd = fuseops.rms_norm %s gamma(%g) eps(1.0e-6) : (tensor<?x4096xbf16>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x1xf32>)
  fuseops.return %y, %s : tensor<?x4096xbf16>, tensor<?x4096xbf16>
}
