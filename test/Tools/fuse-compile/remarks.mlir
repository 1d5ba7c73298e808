// RUN: fuse-compile %s --print-remarks -o %t 2>&1 | FileCheck %s

// CHECK: remarks.mlir:[[#]]:8: remark: Passed [fuseops-forward-fusion] Fusion: fused fuseops.scale with fuseops.silu
fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  %z = fuseops.scale %x by(2.0) : tensor<?x8xf32>
  %y = fuseops.silu %z : tensor<?x8xf32>
  fuseops.return %y : tensor<?x8xf32>
}
