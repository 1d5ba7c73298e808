// Blocks along a row in row kernels: known in the pass that reduces them.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cuda --canonicalize --cse | FileCheck %s
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cpu --canonicalize --cse | FileCheck %s --check-prefix=CPU

fuseops.fusible @main(%x: tensor<?x384xf32>, %y: tensor<?x387xf32>, %l: tensor<?x2056xf32>, %s: tensor<?x4xf32>, %w: tensor<?x8448xf32>)
    -> (tensor<?x384xf32>, tensor<3x?xf32>, tensor<?x4xf32>, tensor<?x2056xf32>, tensor<?x387xf32>, tensor<?x66xf32>)
forward {
  %0:2 = fuseops.group @held row schedule {rows = 1 : i64, threads = 32 : i64} (%a = %x) : (tensor<?x384xf32>) -> (tensor<?x384xf32>, tensor<3x?xf32>) {
    %m = fuseops.reduce_blocks %a block(1, 128) : tensor<?x384xf32> -> tensor<?x3xf32>
    %e = fuseops.expand_blocks %m block(1, 128) : tensor<?x3xf32> -> tensor<?x384xf32>
    %p = fuseops.mul %a, %e : tensor<?x384xf32>, tensor<?x384xf32> -> tensor<?x384xf32>
    %t = fuseops.permute %m order[1, 0] : tensor<?x3xf32> -> tensor<3x?xf32>
    fuseops.yield %p, %t : tensor<?x384xf32>, tensor<3x?xf32>
  }
  %1 = fuseops.group @warps row schedule {rows = 1 : i64, threads = 128 : i64} (%a = %y) : (tensor<?x387xf32>) -> tensor<?x4xf32> {
    %m = fuseops.reduce_blocks %a block(1, 128) : tensor<?x387xf32> -> tensor<?x4xf32>
    fuseops.yield %m : tensor<?x4xf32>
  }
  %2 = fuseops.group @loop row schedule {rows = 1 : i64, threads = 8 : i64} (%a = %l) : (tensor<?x2056xf32>) -> tensor<?x2056xf32> {
    %m = fuseops.reduce_blocks %a block(1, 32) : tensor<?x2056xf32> -> tensor<?x65xf32>
    %e = fuseops.expand_blocks %m block(1, 32) : tensor<?x65xf32> -> tensor<?x2056xf32>
    %p = fuseops.mul %a, %e : tensor<?x2056xf32>, tensor<?x2056xf32> -> tensor<?x2056xf32>
    fuseops.yield %p : tensor<?x2056xf32>
  }
  %3 = fuseops.group @given row schedule {rows = 1 : i64, threads = 128 : i64} (%a = %y, %b = %s) : (tensor<?x387xf32>, tensor<?x4xf32>) -> tensor<?x387xf32> {
    %e = fuseops.expand_blocks %b block(1, 128) : tensor<?x4xf32> -> tensor<?x387xf32>
    %p = fuseops.mul %a, %e : tensor<?x387xf32>, tensor<?x387xf32> -> tensor<?x387xf32>
    fuseops.yield %p : tensor<?x387xf32>
  }
  %4 = fuseops.group @chosen row (%a = %w) : (tensor<?x8448xf32>) -> tensor<?x66xf32> {
    %m = fuseops.reduce_blocks %a block(1, 128) : tensor<?x8448xf32> -> tensor<?x66xf32>
    fuseops.yield %m : tensor<?x66xf32>
  }
  fuseops.return %0#0, %0#1, %1, %2, %3, %4 : tensor<?x384xf32>, tensor<3x?xf32>, tensor<?x4xf32>, tensor<?x2056xf32>, tensor<?x387xf32>, tensor<?x66xf32>
}

// 32 threads with 4 elements are a block; each has its largest element, and the
// first writes it, when all vectors have been visited.
// CHECK-LABEL: func.func @held(
// CHECK-COUNT-3: nvvm.shfl.sync bfly %{{.+}} : f32 -> f32
// CHECK-NOT: nvvm.barrier0
// CHECK:     vector.broadcast %{{.+}} : f32 to vector<4xf32>
// CHECK:     llvm.store %{{.+}} : vector<4xf32>
// CHECK-NOT: scf.if
// CHECK:     llvm.store %{{.+}} : vector<4xf32>
// CHECK-NOT: scf.if
// CHECK:     llvm.store %{{.+}} : vector<4xf32>
// CHECK-COUNT-3: scf.if
// CHECK-NOT: scf.if

// Vectors of one element leave a block to four warps. The last ones are past
// the row's last column, where nothing is taken in.
// CHECK:       llvm.mlir.global internal @warps_blocks() {{.+}} : !llvm.array<4 x f32>
// CHECK-LABEL: func.func @warps(
// CHECK:     %[[EXISTS:.+]] = arith.cmpi slt, %{{.+}}, %c387_i64
// CHECK:     nvvm.shfl.sync bfly %{{.+}} : f32 -> f32
// CHECK:     nvvm.barrier0
// CHECK:     scf.if
// CHECK:     nvvm.barrier0
// CHECK-COUNT-4: llvm.load {{.+}} : !llvm.ptr<3> -> f32
// CHECK:     %[[ELEMENT:.+]] = arith.select %[[EXISTS]], %{{.+}}, %cst{{.*}} : f32
// CHECK:     nvvm.shfl.sync bfly %{{.+}}, %[[ELEMENT]],

// All threads are there for what is left of 32 loops of 64 columns.
// CHECK-LABEL: func.func @loop(
// CHECK:     scf.for %{{.+}} = %{{.+}} to %c2048_i64 step %c64_i64
// CHECK-COUNT-6: nvvm.shfl.sync bfly
// CHECK:     arith.cmpi slt, %{{.+}}, %c2056_i64
// CHECK:     arith.minsi
// CHECK-COUNT-3: nvvm.shfl.sync bfly

// A block's scale is read where the block's elements are.
// CHECK-LABEL: func.func @given(
// CHECK-NOT: nvvm.shfl
// CHECK:     llvm.load %{{.+}} {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK:     arith.divui %{{.+}}, %c128_i64

// Both visits of a loop are under way before threads exchange anything.
// CHECK-LABEL: func.func @chosen(
// CHECK:     scf.for %{{.+}} = %{{.+}} to %c8192_i64 step %c1024_i64
// CHECK:       llvm.load %{{.+}} -> vector<4xf32>
// CHECK-NOT:   nvvm.shfl.sync
// CHECK:       llvm.load %{{.+}} -> vector<4xf32>
// CHECK:       nvvm.shfl.sync

// Four vectors of a block are visited together, and what is left of the row in
// ever shorter ones.
// CPU-LABEL: func.func @held(
// CPU:     scf.for %{{.+}} to %c384_i64 step %c128_i64
// CPU-COUNT-3: arith.maximumf %{{.+}} : vector<32xf32>
// CPU-LABEL: func.func @warps(
// CPU:     scf.for %{{.+}} to %c384_i64 step %c128_i64
// CPU-COUNT-7: arith.maximumf %{{.+}} : vector<16xf32>
// CPU:     %[[TWO:.+]] = llvm.load %{{.+}} -> vector<2xf32>
// CPU:     %[[ONE:.+]] = llvm.load %{{.+}} -> f32
// CPU:     arith.maximumf %{{.+}}, %[[ONE]] : f32
// CPU:     llvm.store %{{.+}} : f32
