// Interleaved halves, row scales and their gradients, odd rows.
// RUN: fuse-run %s --target=cpu --size 5 --check

fuseops.fusible @main(%x: tensor<?x3x48xf32>, %s: tensor<?x3x1xf32>) -> tensor<?x3x24xf32>
forward {
  %a = fuseops.swiglu %x scale(%s) activation(first) interleave(8) : tensor<?x3x48xf32>, tensor<?x3x1xf32> -> tensor<?x3x24xf32>
  %b = fuseops.clamped_swiglu %x limit(0.5) alpha(1.702) offset(1.0) activation(last) interleave(3) : tensor<?x3x48xf32> -> tensor<?x3x24xf32>
  %c = fuseops.situglu %x beta1(4.0) beta2(25.0) activation(last) : tensor<?x3x48xf32> -> tensor<?x3x24xf32>
  %d = fuseops.add %a, %b : tensor<?x3x24xf32>, tensor<?x3x24xf32> -> tensor<?x3x24xf32>
  %e = fuseops.mul %d, %c : tensor<?x3x24xf32>, tensor<?x3x24xf32> -> tensor<?x3x24xf32>
  fuseops.return %e : tensor<?x3x24xf32>
}
