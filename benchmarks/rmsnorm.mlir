// RMSNorm: forward reads and writes the rows once; backward gives dx and dgamma.
fuseops.fusible @rmsnorm(%x: tensor<?x4096xbf16>, %g: tensor<4096xbf16>) -> tensor<?x4096xbf16>
forward {
  %y, %rstd = fuseops.rms_norm %x gamma(%g) eps(1.0e-6) : (tensor<?x4096xbf16>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x1xf32>)
  fuseops.return %y : tensor<?x4096xbf16>
}
