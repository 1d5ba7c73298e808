// A callee with a backward region of its own, applied twice.
// RUN: fuse-run %s --target=cpu --size 9 --check

fuseops.fusible @callee(%x: tensor<?x24xf32>, %w: tensor<24x24xf32>) -> tensor<?x24xf32> attributes {sym_visibility = "private"}
forward {
  %z = fuseops.linear %x, %w : (tensor<?x24xf32>, tensor<24x24xf32>) -> tensor<?x24xf32>
  %y = fuseops.gelu %z approximate(none) : tensor<?x24xf32>
  fuseops.return %y : tensor<?x24xf32>
}

fuseops.fusible @main(%x: tensor<?x24xf32>, %w: tensor<24x24xf32>) -> tensor<?x24xf32>
forward {
  %a = fuseops.apply @callee(%x, %w) : (tensor<?x24xf32>, tensor<24x24xf32>) -> tensor<?x24xf32>
  %b = fuseops.apply @callee(%a, %w) : (tensor<?x24xf32>, tensor<24x24xf32>) -> tensor<?x24xf32>
  fuseops.return %b : tensor<?x24xf32>
}
