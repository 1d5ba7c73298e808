// Rotary embedding of both orders and a scaled softmax, with the angles'
// gradients.
// RUN: fuse-run %s --target=cpu --size 3 --check

fuseops.fusible @main(%x: tensor<?x5x2x12xf32>, %c: tensor<5x1x6xf32>, %s: tensor<5x1x6xf32>) -> tensor<?x5x2x12xf32>
forward {
  %a = fuseops.rotary_embedding %x, %c, %s pairs(half) : tensor<?x5x2x12xf32>, tensor<5x1x6xf32>, tensor<5x1x6xf32>
  %b = fuseops.rotary_embedding %a, %c, %s pairs(interleaved) conjugate : tensor<?x5x2x12xf32>, tensor<5x1x6xf32>, tensor<5x1x6xf32>
  %d = fuseops.scale %b by(0.25) : tensor<?x5x2x12xf32>
  %e = fuseops.softmax %d : tensor<?x5x2x12xf32> -> tensor<?x5x2x12xf32>
  %f = fuseops.log_softmax %e : tensor<?x5x2x12xf32> -> tensor<?x5x2x12xf32>
  fuseops.return %f : tensor<?x5x2x12xf32>
}
