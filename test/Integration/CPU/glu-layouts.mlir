// Slices and concatenations, both half orders, and tails of every width.
// RUN: fuse-run %s --target=cpu --size 3 --check

fuseops.fusible @main(%x: tensor<?x2x34xf32>, %y: tensor<?x2x3xf32>) -> tensor<?x2x20xf32>
forward {
  %a = fuseops.swiglu %x activation(first) : tensor<?x2x34xf32> -> tensor<?x2x17xf32>
  %b = fuseops.geglu %x activation(last) : tensor<?x2x34xf32> -> tensor<?x2x17xf32>
  %c = fuseops.add %a, %b : tensor<?x2x17xf32>, tensor<?x2x17xf32> -> tensor<?x2x17xf32>
  %d = fuseops.concat %c, %y dim(2) : (tensor<?x2x17xf32>, tensor<?x2x3xf32>) -> tensor<?x2x20xf32>
  fuseops.return %d : tensor<?x2x20xf32>
}
