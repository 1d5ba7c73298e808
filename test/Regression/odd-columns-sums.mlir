// Sums of columns beside blocks whose elements a later pass computes again: what each
// thread is was read again within the loop over tiles, and used after it.
// RUN: fuse-run %s --size 67 --check | FileCheck %s --check-prefix=OUT
// RUN: fuse-compile %s --target=cuda:sm_90a --compile-to=lowering | FileCheck %s

// OUT: check: ok
// CHECK: func.func @forward_0
!q = !fuseops.quantized<?x131xf8E4M3FN, scale = block<1x128>, copies = row_col>
fuseops.fusible @f(%dy: tensor<?x131xbf16>, %z: tensor<?x131xbf16>) -> (!q, tensor<131xbf16>)
attributes {frozen_results = array<i64: 0, 1>}
forward {
  %dz = fuseops.gelu_grad %dy, %z approximate(tanh) : tensor<?x131xbf16>
  %db = fuseops.reduce_rows sum %dz : tensor<?x131xbf16> -> tensor<131xbf16>
  %q = fuseops.quantize %dz : (tensor<?x131xbf16>) -> !q
  fuseops.return %q, %db : !q, tensor<131xbf16>
}
