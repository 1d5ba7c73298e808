// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pipeline with activations that no operation knows: their backward is derived.
fuseops.fusible @user_activation(%x: tensor<?x6xf32>, %b: tensor<6xf32>, %g: tensor<?x1xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>)
forward {
  %z = fuseops.bias %x, %b : tensor<?x6xf32>, tensor<6xf32>
  // x * sigmoid(1.702 x) + 0.1 * tanh(x) * sqrt(1 + x^2)
  %y = fuseops.pointwise (%a = %z) : (tensor<?x6xf32>) -> tensor<?x6xf32> {
    %one = arith.constant 1.0 : f32
    %slope = arith.constant 1.702 : f32
    %tenth = arith.constant 0.1 : f32
    %u = arith.mulf %slope, %a : f32
    %n = arith.negf %u : f32
    %e = math.exp %n : f32
    %d = arith.addf %one, %e : f32
    %s = arith.divf %a, %d : f32
    %t = math.tanh %a : f32
    %q = math.fma %a, %a, %one : f32
    %r = math.sqrt %q : f32
    %tr = arith.mulf %t, %r : f32
    %p = arith.mulf %tenth, %tr : f32
    %v = arith.addf %s, %p : f32
    fuseops.yield %v : f32
  }
  // Two inputs that broadcast, two results.
  %r0, %r1 = fuseops.pointwise (%a = %y, %c = %g) : (tensor<?x6xf32>, tensor<?x1xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>) {
    %one = arith.constant 1.0 : f32
    %m = arith.mulf %a, %c : f32
    %h = math.sin %m : f32
    %aa = math.fma %a, %a, %one : f32
    %l = math.log %aa : f32
    %k = arith.mulf %l, %c : f32
    fuseops.yield %h, %k : f32, f32
  }
  fuseops.return %r0, %r1 : tensor<?x6xf32>, tensor<?x6xf32>
}
