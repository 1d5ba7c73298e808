// The Llama MLP block: norm, gate and up in one product, SwiGLU, down, residual.
fuseops.fusible @llama_mlp_block(%x: tensor<?x4096xbf16>, %gamma: tensor<4096xbf16>, %gate_up: tensor<28672x4096xbf16>, %down: tensor<4096x14336xbf16>) -> tensor<?x4096xbf16>
forward {
  %h, %rstd = fuseops.rms_norm %x gamma(%gamma) eps(1.0e-05) : (tensor<?x4096xbf16>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x1xf32>)
  %z = fuseops.linear %h, %gate_up : (tensor<?x4096xbf16>, tensor<28672x4096xbf16>) -> tensor<?x28672xbf16>
  %a = fuseops.swiglu %z activation(first) : tensor<?x28672xbf16> -> tensor<?x14336xbf16>
  %d = fuseops.linear %a, %down : (tensor<?x14336xbf16>, tensor<4096x14336xbf16>) -> tensor<?x4096xbf16>
  %y = fuseops.add %x, %d : tensor<?x4096xbf16>, tensor<?x4096xbf16> -> tensor<?x4096xbf16>
  fuseops.return %y : tensor<?x4096xbf16>
}
