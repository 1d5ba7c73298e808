// The gradient of a broadcast over what stands before `?` is refused by name; it
// used to be a reshape that the verifier refused.
// RUN: not fuse-compile %s -o %t 2>&1 | FileCheck %s
// CHECK: :8:8: error: cannot reduce a gradient of type 'tensor<4x?x1xf32>' to 'tensor<?x1xf32>': a reduction over what comes before `?` is not supported
fuseops.fusible @f(%x: tensor<4x?x8xf32>, %s: tensor<?x1xf32>) -> tensor<4x?x8xf32>
forward {
  // Both operands are asked for their gradients.
  %y = fuseops.add %x, %s : tensor<4x?x8xf32>, tensor<?x1xf32> -> tensor<4x?x8xf32>
  fuseops.return %y : tensor<4x?x8xf32>
}
