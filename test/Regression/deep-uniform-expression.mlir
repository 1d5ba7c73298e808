// LLVM's loop vectorizer took time exponential in the depth of an expression
// that is the same in each iteration: compiling this did not end.
// RUN: fuse-compile %s --target=cpu -o %t
// RUN: fuse-run %s --target=cpu --check
fuseops.fusible @f(%c: tensor<1x1xf32> {fuseops.frozen}, %x: tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
forward {
  %y = fuseops.pointwise (%a = %x, %b = %c) : (tensor<2x1x1xf32>, tensor<1x1xf32>) -> tensor<2x1x1xf32> {
    %t = math.tanh %b : f32
    %i = fuseops.special i1e(%t) : f32
    %r = math.tanh %i : f32
    fuseops.yield %r : f32
  }
  fuseops.return %y : tensor<2x1x1xf32>
}
