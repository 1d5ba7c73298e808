// RUN: fuse-opt %s -fuseops-perturb=seed=1 | FileCheck %s
// RUN: fuse-opt %s -fuseops-perturb=seed=2 | FileCheck %s --check-prefix=OTHER
// RUN: fuse-opt %s -fuseops-perturb=seed=1 | fuse-compile - --target=reference -o %t

// Each floating-point result gets the noise of its type (2^-8 for bf16); its
// users read that. Integers, and FP8 data, keep their values.
// CHECK-LABEL: fuseops.fusible @noise(
// CHECK-SAME: %[[X:.+]]: tensor<?x64xbf16>)
// CHECK: %[[Y:.+]] = fuseops.silu %[[X]] : tensor<?x64xbf16>
// CHECK-NEXT: %[[NOISY:.+]] = fuseops.pointwise (%[[E:.+]] = %[[Y]]) : (tensor<?x64xbf16>) -> tensor<?x64xbf16> {
// CHECK-DAG: %[[I:.+]] = fuseops.linear_index : i64
// CHECK-DAG: %[[F:.+]] = arith.constant 1.13387668 : f32
// CHECK: %[[PHASE:.+]] = arith.mulf %{{.+}}, %[[F]] : f32
// CHECK: %[[SIN:.+]] = math.sin %[[PHASE]] : f32
// CHECK: %[[U:.+]] = arith.constant 3.906250e-03 : f32
// CHECK: %[[N:.+]] = arith.mulf %[[SIN]], %[[U]] : f32
// CHECK: %[[P:.+]] = arith.mulf %[[E]], %[[N]] : f32
// CHECK: %[[R:.+]] = arith.addf %[[E]], %[[P]] : f32
// CHECK: fuseops.yield %[[R]] : f32
// CHECK: %[[BITS:.+]] = fuseops.pointwise (%{{.+}} = %[[NOISY]]) : (tensor<?x64xbf16>) -> tensor<?x64xi1>
// CHECK: fuseops.return %[[NOISY]], %[[BITS]]

// OTHER-NOT: 1.13387668
fuseops.fusible @noise(%x: tensor<?x64xbf16>) -> (tensor<?x64xbf16>, tensor<?x64xi1>)
forward {
  %y = fuseops.silu %x : tensor<?x64xbf16>
  %bits = fuseops.pointwise (%e = %y) : (tensor<?x64xbf16>) -> tensor<?x64xi1> {
    %zero = arith.constant 0.0 : f32
    %is = arith.cmpf ogt, %e, %zero : f32
    fuseops.yield %is : i1
  }
  fuseops.return %y, %bits : tensor<?x64xbf16>, tensor<?x64xi1>
}
