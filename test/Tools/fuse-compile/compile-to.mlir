// Each phase's IR reads back, and holds what the phase leaves.
// RUN: fuse-compile %s --compile-to=input | fuse-opt | FileCheck %s --check-prefix=INPUT
// RUN: fuse-compile %s --compile-to=differentiate | fuse-opt | FileCheck %s --check-prefix=DIFF
// RUN: fuse-compile %s --compile-to=quantize | fuse-opt | FileCheck %s --check-prefix=DIFF
// RUN: fuse-compile %s --compile-to=saved | fuse-opt | FileCheck %s --check-prefix=DIFF
// RUN: fuse-compile %s --compile-to=fusion | fuse-opt | FileCheck %s --check-prefix=FUSION
// RUN: fuse-compile %s --compile-to=fusion --target=reference | fuse-opt | FileCheck %s --check-prefix=REFERENCE
// RUN: fuse-compile %s --compile-to=lowering | fuse-opt | FileCheck %s --check-prefix=LOWERING
// RUN: fuse-compile %s --compile-to=target | fuse-opt | FileCheck %s --check-prefix=TARGET

// INPUT: forward
// INPUT-NOT: backward
// DIFF: backward
// DIFF: fuseops.silu_grad
// FUSION: fuseops.group
// FUSION: fuseops.scale
// FUSION: fuseops.silu
// REFERENCE: tensor<?x8xf64>
// REFERENCE: fuseops.group @forward_0
// REFERENCE: fuseops.group @forward_1
// LOWERING: fuseops.launch @kernels::@forward_0
// LOWERING: func.func @forward_0
// TARGET: llvm.func @forward_0
fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  %z = fuseops.scale %x by(2.0) : tensor<?x8xf32>
  %y = fuseops.silu %z : tensor<?x8xf32>
  fuseops.return %y : tensor<?x8xf32>
}
