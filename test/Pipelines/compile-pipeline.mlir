// fuse-opt knows the phases as one pipeline.
// RUN: fuse-opt %s --fuseops-compile="to=fusion target=reference" | FileCheck %s
// RUN: fuse-compile %s --compile-to=fusion --target=reference -o %t.mlir
// RUN: fuse-opt %s --fuseops-compile="to=fusion target=reference" -o %t.pipeline.mlir
// RUN: fuse-opt %t.mlir -o %t.compile.mlir
// RUN: diff %t.pipeline.mlir %t.compile.mlir
// RUN: not fuse-opt %s --fuseops-compile="to=end" 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not fuse-opt %s --fuseops-compile="target=tpu" 2>&1 | FileCheck %s --check-prefix=TARGET

// CHECK: fuseops.group @forward_0
// CHECK: tensor<?x8xf64>
// PHASE: expected a phase, but got `end`
// TARGET: expected target `cpu`{{.*}}, but got `tpu`
fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  %y = fuseops.silu %x : tensor<?x8xf32>
  fuseops.return %y : tensor<?x8xf32>
}
