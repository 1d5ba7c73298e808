// Each launch that is no longer one is one remark at the launch that has it.
// RUN: fuse-opt %s --mlir-disable-threading "--pass-pipeline=builtin.module(convert-fuseops-to-kernels,fuseops-merge-launches)" --remarks-filter=fuseops-merge-launches --verify-diagnostics -o %t

fuseops.fusible @f(%x: tensor<6xf32>, %y: tensor<7xf32>) -> (tensor<6xf32>, tensor<7xf32>) attributes {frozen_results = array<i64: 0, 1>}
forward {
  // expected-remark @below {{[Passed] Merge | Category:fuseops-merge-launches | Reason="`@second` runs as a part of `@first`"}}
  %z = fuseops.group @first pointwise (%a = %x) : (tensor<6xf32>) -> tensor<6xf32> {
    %m = fuseops.relu %a : tensor<6xf32>
    fuseops.yield %m : tensor<6xf32>
  }
  %w = fuseops.group @second pointwise (%a = %y) : (tensor<7xf32>) -> tensor<7xf32> {
    %m = fuseops.relu %a : tensor<7xf32>
    fuseops.yield %m : tensor<7xf32>
  }
  fuseops.return %z, %w : tensor<6xf32>, tensor<7xf32>
}
