// Contractions as kernels of ours, with what is computed of them.
// RUN: fuse-compile %s --target=cuda:sm_90a --generate-products --report=text | FileCheck %s
// RUN: fuse-compile %s --target=cuda:sm_90a --report=text | FileCheck %s --check-prefix=LIBRARY
// RUN: not fuse-compile %s --generate-products 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not fuse-compile %s --target=cuda:sm_80 --generate-products 2>&1 | FileCheck %s --check-prefix=CHIP

// CHECK: forward_0 gemm {{.*}} fuseops.linear, fuseops.swiglu
// CHECK: forward_1 gemm {{.*}} fuseops.linear, fuseops.add
// CHECK: backward_{{[0-9]}} gemm {{.*}} fuseops.matmul

// LIBRARY-NOT: gemm
// LIBRARY: library

// CPU: error: expected target `cuda:sm_90a` for generated products, but got `cpu:native`
// CHIP: error: expected target `cuda:sm_90a` for generated products, but got `cuda:sm_80`
fuseops.fusible @mlp(%x: tensor<?x128xbf16>, %up: tensor<512x128xbf16>, %down: tensor<128x256xbf16>) -> tensor<?x128xbf16>
forward {
  %z = fuseops.linear %x, %up : (tensor<?x128xbf16>, tensor<512x128xbf16>) -> tensor<?x512xbf16>
  %a = fuseops.swiglu %z activation(first) : tensor<?x512xbf16> -> tensor<?x256xbf16>
  %d = fuseops.linear %a, %down : (tensor<?x256xbf16>, tensor<128x256xbf16>) -> tensor<?x128xbf16>
  %y = fuseops.add %x, %d : tensor<?x128xbf16>, tensor<?x128xbf16> -> tensor<?x128xbf16>
  fuseops.return %y : tensor<?x128xbf16>
}
