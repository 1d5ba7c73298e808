// Of several public fusibles, --entry chooses one; private ones are inlined.
// RUN: not fuse-compile %s -o %t.none 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ls %t.none
// RUN: not fuse-compile %s --entry=missing -o %t.none 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: fuse-compile %s --entry=twice --report | FileCheck %s --check-prefix=TWICE
// RUN: fuse-compile %s --compile-to=input | FileCheck %s --check-prefix=ALL

// TWO: entry.mlir:[[#]]:1: error: expected one public `fuseops.fusible`, but got 2 (`once`, `twice`): name the one to compile as the entry
// MISSING: entry.mlir: error: no `fuseops.fusible` is named `missing`
// TWICE: "name": "twice"
// ALL: fuseops.fusible @once
// ALL: fuseops.fusible @twice
fuseops.fusible @once(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y = fuseops.silu %x : tensor<4x8xf32>
  fuseops.return %y : tensor<4x8xf32>
}
fuseops.fusible @twice(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y = fuseops.apply @once(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %z = fuseops.apply @once(%y) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  fuseops.return %z : tensor<4x8xf32>
}
