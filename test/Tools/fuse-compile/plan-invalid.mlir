// A plan that was written without a backward region isn't compiled without one
// unless it says that nobody wants it.
// RUN: not fuse-compile %s -o - 2>&1 | FileCheck %s
// RUN: sed "s/-> tensor<?x64xf32>$/& attributes {frozen_results = array<i64: 0>}/" %s > %t.mlir
// RUN: fuse-compile %t.mlir -o %t.fuseops

// CHECK: plan-invalid.mlir:[[#@LINE+3]]:8: error: 'fuseops.group' op has no gradient rule, but a gradient through it is asked for
fuseops.fusible @f(%x: tensor<?x64xf32>) -> tensor<?x64xf32>
forward {
  %y = fuseops.group @k pointwise (%p = %x) : (tensor<?x64xf32>) -> tensor<?x64xf32> {
    %1 = fuseops.relu %p : tensor<?x64xf32>
    fuseops.yield %1 : tensor<?x64xf32>
  }
  fuseops.return %y : tensor<?x64xf32>
}
