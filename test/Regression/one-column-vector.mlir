// A kernel over one column handles one element at a time on CUDA, also where it
// slices a wider tensor; and a sliced operand, such as the random state, does
// not make other accesses narrower.
// RUN: fuse-compile %s --entry=one --target=cuda:sm_90a --compile-to=lowering | FileCheck %s --check-prefix=ONE --implicit-check-not="vector<2x"
// RUN: fuse-compile %s --entry=wide --target=cuda:sm_90a --compile-to=lowering | FileCheck %s --check-prefix=WIDE

// ONE: func.func @forward_0
// ONE: llvm.load %{{.+}} : !llvm.ptr -> f32
fuseops.fusible @one(%x: tensor<?x1xf32> {fuseops.frozen}, %s: tensor<2xi64> {fuseops.random_state}) -> tensor<?x1xf32>
forward {
  %y = fuseops.dropout %x, %s p(0.25) : tensor<?x1xf32>, tensor<2xi64>
  fuseops.return %y : tensor<?x1xf32>
}

// WIDE: func.func @{{.*}}forward_0
// WIDE: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
fuseops.fusible @wide(%x: tensor<?x64xf32> {fuseops.frozen}, %s: tensor<2xi64> {fuseops.random_state}) -> tensor<?x64xf32>
forward {
  %y = fuseops.dropout %x, %s p(0.25) : tensor<?x64xf32>, tensor<2xi64>
  fuseops.return %y : tensor<?x64xf32>
}
