// Integers and bools: how they lie in memory, and how they are reduced.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cpu --canonicalize --cse | FileCheck %s --check-prefix=CPU
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cuda --canonicalize --cse | FileCheck %s --check-prefix=CUDA

fuseops.fusible @bools(%x: tensor<?x32xf32>, %m: tensor<?x32xi1>) -> (tensor<?x32xf32>, tensor<?x32xi1>)
forward {
  %y:2 = fuseops.group @bools pointwise (%a = %x, %b = %m) : (tensor<?x32xf32>, tensor<?x32xi1>) -> (tensor<?x32xf32>, tensor<?x32xi1>) {
    %r:2 = fuseops.pointwise (%s = %a, %p = %b) : (tensor<?x32xf32>, tensor<?x32xi1>) -> (tensor<?x32xf32>, tensor<?x32xi1>) {
      %zero = arith.constant 0.0 : f32
      %true = arith.constant true
      %v = arith.select %p, %s, %zero : f32
      %n = arith.xori %p, %true : i1
      fuseops.yield %v, %n : f32, i1
    }
    fuseops.yield %r#0, %r#1 : tensor<?x32xf32>, tensor<?x32xi1>
  }
  fuseops.return %y#0, %y#1 : tensor<?x32xf32>, tensor<?x32xi1>
}

fuseops.fusible @sums(%x: tensor<?x32xi8>) -> (tensor<?x1xi8>, tensor<32xi64>)
forward {
  %y:2 = fuseops.group @sums row_column (%a = %x) : (tensor<?x32xi8>) -> (tensor<?x1xi8>, tensor<32xi64>) {
    %c = fuseops.reduce_columns sum %a : tensor<?x32xi8> -> tensor<?x1xi8>
    %r = fuseops.reduce_rows sum %a : tensor<?x32xi8> -> tensor<32xi64>
    fuseops.yield %c, %r : tensor<?x1xi8>, tensor<32xi64>
  }
  fuseops.return %y#0, %y#1 : tensor<?x1xi8>, tensor<32xi64>
}

fuseops.fusible @unsigned(%x: tensor<?x4096xui8>) -> tensor<?x1xui8>
forward {
  %y = fuseops.group @unsigned row schedule {rows = 1 : i64, threads = 64 : i64} (%a = %x) : (tensor<?x4096xui8>) -> tensor<?x1xui8> {
    %c = fuseops.reduce_columns min %a : tensor<?x4096xui8> -> tensor<?x1xui8>
    fuseops.yield %c : tensor<?x1xui8>
  }
  fuseops.return %y : tensor<?x1xui8>
}

fuseops.fusible @doubles(%x: tensor<?x4096xf64>) -> (tensor<?x1xf64>, tensor<?x1xi1>)
forward {
  %y:2 = fuseops.group @doubles row schedule {rows = 1 : i64, threads = 64 : i64} (%a = %x) : (tensor<?x4096xf64>) -> (tensor<?x1xf64>, tensor<?x1xi1>) {
    %c = fuseops.reduce_columns sum %a : tensor<?x4096xf64> -> tensor<?x1xf64>
    %n = fuseops.pointwise (%s = %a) : (tensor<?x4096xf64>) -> tensor<?x4096xi1> {
      %p = arith.cmpf uno, %s, %s : f64
      fuseops.yield %p : i1
    }
    %any = fuseops.reduce_columns max %n : tensor<?x4096xi1> -> tensor<?x1xi1>
    fuseops.yield %c, %any : tensor<?x1xf64>, tensor<?x1xi1>
  }
  fuseops.return %y#0, %y#1 : tensor<?x1xf64>, tensor<?x1xi1>
}

// A bool is a byte, true if it is not 0; what is stored is 0 or 1.
// CPU: func.func @bools(
// CPU: %[[ZERO:.+]] = arith.constant dense<0> : vector<32xi8>
// CPU: %[[BYTES:.+]] = llvm.load %{{.+}} {alignment = 1 : i64} : !llvm.ptr -> vector<32xi8>
// CPU-NEXT: %[[BITS:.+]] = arith.cmpi ne, %[[BYTES]], %[[ZERO]] : vector<32xi8>
// CPU-NEXT: arith.select %[[BITS]], %{{.+}}, %{{.+}} : vector<32xi1>, vector<32xf32>
// CPU: %[[NOT:.+]] = arith.xori %[[BITS]], %{{.+}} : vector<32xi1>
// CPU: %[[STORED:.+]] = arith.extui %[[NOT]] : vector<32xi1> to vector<32xi8>
// CPU: llvm.store %[[STORED]], %{{.+}} {alignment = 1 : i64} : vector<32xi8>, !llvm.ptr

// Sums are in i64, and wrap to the result's type.
// CPU: func.func @sums(
// CPU: %[[VALUE:.+]] = llvm.load %{{.+}} : !llvm.ptr -> vector<32xi8>
// CPU-NEXT: %[[WIDE:.+]] = arith.extsi %[[VALUE]] : vector<32xi8> to vector<32xi64>
// CPU: arith.addi %{{.+}}, %[[WIDE]] : vector<32xi64>
// CPU: arith.trunci %{{.+}} : i64 to i8
// CPU: func.func @sums_finalize(
// CPU-NOT: arith.trunci
// CPU: return

// A ui8 has no sign, so 255 is the neutral element of its minimum.
// CPU: func.func @unsigned(
// CPU: %[[NEUTRAL:.+]] = arith.constant dense<255> : vector<32xi64>
// CPU: scf.for {{.+}} iter_args(%[[SO_FAR:.+]] = %[[NEUTRAL]]) -> (vector<32xi64>) : i64 {
// CPU: %[[WIDE:.+]] = arith.extui %{{.+}} : vector<32xi8> to vector<32xi64>
// CPU: arith.minsi %[[SO_FAR]], %[[WIDE]] : vector<32xi64>

// f32 and bool decide: the widest access has 16 bytes, no vector more than 8
// elements.
// CUDA: func.func @bools(
// CUDA: llvm.load %{{.+}} {alignment = 8 : i64} : !llvm.ptr -> vector<8xi8>
// CUDA: arith.cmpi ne, %{{.+}}, %{{.+}} : vector<8xi8>

// 64 bits are exchanged as two halves, and meet in slots of 64 bits.
// CUDA: llvm.mlir.global internal @unsigned_level0_columns4096() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<2 x i64>
// CUDA: func.func @unsigned(
// CUDA: %[[LOW:.+]] = arith.trunci %[[VALUE:.+]] : i64 to i32
// CUDA: %[[LOW_OTHER:.+]] = nvvm.shfl.sync bfly %{{.+}}, %[[LOW]], %{{.+}}, %{{.+}} : i32 -> i32
// CUDA: %[[SHIFTED:.+]] = arith.shrui %[[VALUE]], %{{.+}} : i64
// CUDA: %[[HIGH:.+]] = arith.trunci %[[SHIFTED]] : i64 to i32
// CUDA: nvvm.shfl.sync bfly %{{.+}}, %[[HIGH]], %{{.+}}, %{{.+}} : i32 -> i32
// CUDA: arith.minsi %[[VALUE]], %{{.+}} : i64
// CUDA: llvm.store %{{.+}}, %{{.+}} {alignment = 8 : i64} : i64, !llvm.ptr<3>

// f64 and i64 share the memory of one pass.
// CUDA: llvm.mlir.global internal @doubles_level0_columns4096() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4 x f64>
// CUDA: func.func @doubles(
// CUDA: arith.bitcast %{{.+}} : f64 to i64
// CUDA: arith.bitcast %{{.+}} : i64 to f64
// CUDA: llvm.store %{{.+}}, %{{.+}} {alignment = 8 : i64} : f64, !llvm.ptr<3>
// CUDA: llvm.store %{{.+}}, %{{.+}} {alignment = 8 : i64} : i64, !llvm.ptr<3>
