// A slice that is stored as it is loads from where it begins: of a row of four
// f16, columns 1 and 2 are no aligned pair.
// RUN: fuse-compile %s --target=cuda:sm_90a --compile-to=lowering | FileCheck %s --implicit-check-not="vector<"
// CHECK: func.func @forward_0
// CHECK: llvm.load %{{.+}} : !llvm.ptr -> f16
fuseops.fusible @f(%x: tensor<?x4xf16> {fuseops.frozen}) -> tensor<?x2xf16>
forward {
  %y = fuseops.slice %x dim(1) offset(1) : tensor<?x4xf16> -> tensor<?x2xf16>
  fuseops.return %y : tensor<?x2xf16>
}
