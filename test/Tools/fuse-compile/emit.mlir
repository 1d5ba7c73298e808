// What each --emit writes, and where.
// RUN: rm -rf %t && mkdir %t && cp %s %t/relu.mlir
// RUN: fuse-compile %t/relu.mlir && FileCheck %s --check-prefix=MAGIC < %t/relu.fuseops
// RUN: fuse-compile %t/relu.mlir --emit=obj && llvm-nm %t/relu.o | FileCheck %s --check-prefix=SYMBOL
// RUN: fuse-compile %s --target=cuda --emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: fuse-compile %s --target=cuda:sm_89 --emit=ptx -o - | FileCheck %s --check-prefix=PTX89
// RUN: fuse-compile %s --target=cpu:x86-64-v2 --emit=report -o %t/report.json
// RUN: FileCheck %s --check-prefix=REPORT < %t/report.json
// RUN: fuse-compile %s --report | FileCheck %s --check-prefix=NATIVE
// RUN: fuse-compile %s --emit=ir | FileCheck %s --check-prefix=IR

// MAGIC: FUSEOPS
// SYMBOL: T forward_0
// PTX: .target sm_90a
// PTX: .entry forward_0
// PTX89: .target sm_89
// REPORT: "arch": "x86-64-v2"
// REPORT: "arguments"
// REPORT: "members": [
// REPORT-NEXT: "fuseops.relu"
// REPORT: "name": "forward_0"
// REPORT: "least_precise_dtype": "f32"
// NATIVE: "arch": "x86-64-v
// IR: llvm.func @forward_0
fuseops.fusible @relu(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  %y = fuseops.relu %x : tensor<?x8xf32>
  fuseops.return %y : tensor<?x8xf32>
}
