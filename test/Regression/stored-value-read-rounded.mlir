// What a kernel stores in bf16 is read in bf16 by its other operations, so that
// the sum that it saves is one of the values that backward reads. A value that
// no one else reads is rounded once, by the store.
// RUN: fuse-compile %s --target=cpu:x86-64-v4 --compile-to=lowering | FileCheck %s

// CHECK: func.func @forward_0(
// CHECK: %[[SUM:.+]] = arith.addf %{{.+}} : vector<32xf32>
// CHECK-NEXT: %[[STORED:.+]] = arith.truncf %[[SUM]] : vector<32xf32> to vector<32xbf16>
// CHECK-NEXT: %[[READ:.+]] = arith.extf %[[STORED]] : vector<32xbf16> to vector<32xf32>
// CHECK: %[[ORDERED:.+]] = vector.shuffle %[[STORED]], %[[STORED]] [0, 16, 1, 17,
// CHECK: llvm.store %[[ORDERED]], %{{.+}} : vector<32xbf16>, !llvm.ptr
// CHECK: arith.mulf %[[READ]], %{{.+}} : vector<32xf32>
// CHECK: %[[LAST:.+]] = arith.truncf %{{.+}} : vector<32xf32> to vector<32xbf16>
// CHECK: %[[ORDERED_LAST:.+]] = vector.shuffle %[[LAST]], %[[LAST]] [0, 16, 1, 17,
// CHECK: llvm.store %[[ORDERED_LAST]], %{{.+}} : vector<32xbf16>, !llvm.ptr
fuseops.fusible @f(%x: tensor<?x64xbf16> {fuseops.frozen}, %y: tensor<?x64xbf16> {fuseops.frozen}) -> (tensor<?x64xbf16>, tensor<?x64xbf16>)
forward {
  %sum = fuseops.add %x, %y : tensor<?x64xbf16>, tensor<?x64xbf16> -> tensor<?x64xbf16>
  %half = fuseops.scale %sum by(0.5) : tensor<?x64xbf16>
  fuseops.return %sum, %half : tensor<?x64xbf16>, tensor<?x64xbf16>
}
