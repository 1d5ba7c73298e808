// Which element of a row has a number that the row says is asked once for each vector:
// on CUDA where it is none of them, nothing is compared.
// RUN: fuse-opt %s --convert-fuseops-to-kernels='target=cuda chip=sm_90a' | FileCheck %s --check-prefix=CUDA
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cpu | FileCheck %s --check-prefix=CPU
// RUN: fuse-run %s --size 67 --check | FileCheck %s --check-prefix=OUT

// OUT: check: ok

// CUDA-LABEL: func.func @search
// CUDA: %[[HERE:.+]] = arith.cmpi ult, %{{.+}}, %c8_i64
// CUDA: scf.if %[[HERE]] -> (vector<8xf32>)
// CUDA: arith.cmpi ne, %{{.+}} : vector<8xi32>
// CUDA: } else {
// CUDA-NOT: arith.cmpi
// CUDA: arith.select %{{.*}}, %{{.+}}, %{{.+}} : vector<8xi1>, vector<8xf32>
// CUDA: }
// CPU-LABEL: func.func @search
// CPU: arith.cmpi ne, %{{.+}} : vector<32xi32>
fuseops.fusible @f(%x: tensor<?x64xbf16> {fuseops.frozen}, %c: tensor<?x1xi64>) -> tensor<?x64xbf16>
attributes {frozen_results = array<i64: 0>}
forward {
  %y = fuseops.group @search pointwise (%a = %x, %b = %c) : (tensor<?x64xbf16>, tensor<?x1xi64>) -> tensor<?x64xbf16> {
    %p = fuseops.pointwise (%v = %a, %t = %b) : (tensor<?x64xbf16>, tensor<?x1xi64>) -> tensor<?x64xbf16> {
      %zero = arith.constant 0.0 : f32
      %j = fuseops.column_index : i64
      %other = arith.cmpi ne, %t, %j : i64
      %s = arith.select %other, %zero, %v : f32
      fuseops.yield %s : f32
    }
    fuseops.yield %p : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}
