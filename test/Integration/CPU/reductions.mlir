// Reductions over rows of two widths in one kernel, a norm's gradients, and a
// residual whose gradient is the incoming one plus another.
// RUN: fuse-run %s --target=cpu --size 1 --check
// RUN: fuse-run %s --target=cpu --size 130 --check

fuseops.fusible @main(%x: tensor<?x40xbf16>, %g: tensor<40xbf16>, %b: tensor<40xbf16>, %s: tensor<1xbf16>) -> tensor<?x40xbf16>
forward {
  %n, %m, %r = fuseops.layer_norm %x gamma(%g) beta(%b) eps(1.0e-5) : (tensor<?x40xbf16>, tensor<40xbf16>, tensor<40xbf16>) -> (tensor<?x40xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
  %a = fuseops.mul %n, %s : tensor<?x40xbf16>, tensor<1xbf16> -> tensor<?x40xbf16>
  %y = fuseops.add %a, %x : tensor<?x40xbf16>, tensor<?x40xbf16> -> tensor<?x40xbf16>
  fuseops.return %y : tensor<?x40xbf16>
}
