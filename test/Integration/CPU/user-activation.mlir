// An activation that a user wrote: its derived backward agrees with the f64
// reference, alone and with broadcast operands whose gradients are reduced.
// RUN: fuse-run %s --target=cpu --size 1 --check
// RUN: fuse-run %s --target=cpu --size 37 --check

fuseops.fusible @main(%x: tensor<?x72xf32>, %scale: tensor<72xf32>, %shift: tensor<?x1xf32>) -> tensor<?x72xf32>
forward {
  %y = fuseops.pointwise (%a = %x, %b = %scale, %c = %shift) : (tensor<?x72xf32>, tensor<72xf32>, tensor<?x1xf32>) -> tensor<?x72xf32> {
    %one = arith.constant 1.0 : f32
    %e = math.exp %a : f32
    %p = arith.addf %one, %e : f32
    %l = math.log %p : f32
    %t = math.tanh %l : f32
    %m = arith.mulf %a, %t : f32
    %s = arith.mulf %m, %b : f32
    %r = arith.addf %s, %c : f32
    fuseops.yield %r : f32
  }
  fuseops.return %y : tensor<?x72xf32>
}
