// A bf16 value that a kernel keeps in f32 is still its own maximum, which is rounded
// where it is stored: else none of the elements gets the gradient, divided by 0.
// RUN: fuse-run %s --check --size 33

fuseops.fusible @computed_again(%a: tensor<?x64xbf16>, %b: tensor<?x64xbf16>) -> (tensor<?x1xbf16>, tensor<?x64xbf16>)
forward {
  %v = fuseops.add %a, %b : tensor<?x64xbf16>, tensor<?x64xbf16> -> tensor<?x64xbf16>
  %m = fuseops.reduce_columns max %v : tensor<?x64xbf16> -> tensor<?x1xbf16>
  %p = fuseops.mul %a, %b : tensor<?x64xbf16>, tensor<?x64xbf16> -> tensor<?x64xbf16>
  fuseops.return %m, %p : tensor<?x1xbf16>, tensor<?x64xbf16>
}
