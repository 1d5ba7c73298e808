// SwiGLU of a packed input.
fuseops.fusible @swiglu(%x: tensor<?x28672xbf16>) -> tensor<?x14336xbf16>
forward {
  %y = fuseops.swiglu %x activation(first) : tensor<?x28672xbf16> -> tensor<?x14336xbf16>
  fuseops.return %y : tensor<?x14336xbf16>
}
