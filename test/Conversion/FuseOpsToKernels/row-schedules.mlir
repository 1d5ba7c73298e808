// What the keys of a row kernel's schedule make of it.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cuda --canonicalize --cse | FileCheck %s

fuseops.fusible @main(%x: tensor<?x1024xbf16>, %y: tensor<?x1024xbf16>, %s: tensor<?x1xf32>, %g: tensor<1024xbf16>, %w: tensor<?x4096xf32>)
    -> (tensor<?x1024xf32>, tensor<?x1024xf32>, tensor<?x1024xbf16>, tensor<1024xf32>, tensor<?x4096xf32>)
forward {
  %0 = fuseops.group @plain row schedule {rows = 1 : i64, threads = 128 : i64} (%a = %x, %b = %s, %c = %g) : (tensor<?x1024xbf16>, tensor<?x1xf32>, tensor<1024xbf16>) -> tensor<?x1024xf32> {
    %m = fuseops.reduce_columns max %a : tensor<?x1024xbf16> -> tensor<?x1xf32>
    %n = fuseops.mul %m, %b : tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x1xf32>
    %o = fuseops.mul %c, %n : tensor<1024xbf16>, tensor<?x1xf32> -> tensor<?x1024xf32>
    fuseops.yield %o : tensor<?x1024xf32>
  }
  %1 = fuseops.group @ring row schedule {prefetch = 1 : i64, residents = 4 : i64, rows = 1 : i64, stages = 2 : i64, threads = 128 : i64} (%a = %x, %b = %s, %c = %g) : (tensor<?x1024xbf16>, tensor<?x1xf32>, tensor<1024xbf16>) -> tensor<?x1024xf32> {
    %m = fuseops.reduce_columns max %a : tensor<?x1024xbf16> -> tensor<?x1xf32>
    %n = fuseops.mul %m, %b : tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x1xf32>
    %o = fuseops.mul %c, %n : tensor<1024xbf16>, tensor<?x1xf32> -> tensor<?x1024xf32>
    fuseops.yield %o : tensor<?x1024xf32>
  }
  %2 = fuseops.group @streams pointwise schedule {rows = 1 : i64, streams = 1 : i64, threads = 128 : i64} (%a = %x) : (tensor<?x1024xbf16>) -> tensor<?x1024xbf16> {
    %n = fuseops.relu %a : tensor<?x1024xbf16>
    fuseops.yield %n : tensor<?x1024xbf16>
  }
  %3 = fuseops.group @tiles row_column schedule {stages = 2 : i64, tiles = 4 : i64, workers = 8 : i64} (%a = %x, %b = %y) : (tensor<?x1024xbf16>, tensor<?x1024xbf16>) -> tensor<1024xf32> {
    %m = fuseops.mul %a, %b : tensor<?x1024xbf16>, tensor<?x1024xbf16> -> tensor<?x1024xf32>
    %n = fuseops.reduce_rows sum %m : tensor<?x1024xf32> -> tensor<1024xf32>
    fuseops.yield %n : tensor<1024xf32>
  }
  %4 = fuseops.group @loop pointwise schedule {prefetch = 1 : i64, rows = 1 : i64, threads = 8 : i64, unroll = 3 : i64} (%a = %w) : (tensor<?x4096xf32>) -> tensor<?x4096xf32> {
    %n = fuseops.relu %a : tensor<?x4096xf32>
    fuseops.yield %n : tensor<?x4096xf32>
  }
  fuseops.return %0, %1, %2, %3, %4 : tensor<?x1024xf32>, tensor<?x1024xf32>, tensor<?x1024xbf16>, tensor<1024xf32>, tensor<?x4096xf32>
}

// A row's place in the ring has the row's columns and what there is one of.
// CHECK: fuseops.launch @kernels::@ring({{.+}} shared_bytes = 5120 : i64
// CHECK: fuseops.launch @kernels::@tiles({{.+}}max_workers = 8 : i64, {{.+}}rows = array<i64: 0, 4>, {{.+}}shared_bytes = 16384 : i64

// Without keys: loads where they are used, and two barriers.
// CHECK-LABEL: func.func @plain(
// CHECK:         scf.for
// CHECK:           llvm.load %{{.+}} : !llvm.ptr -> vector<8xbf16>
// CHECK:           nvvm.barrier0
// CHECK:           nvvm.barrier0
// CHECK:           llvm.load %{{.+}} : !llvm.ptr -> vector<8xbf16>

// CHECK-DAG:   llvm.mlir.global external @ring_ring() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
// The sums of four warps, of two rows in turn.
// CHECK-DAG:   llvm.mlir.global internal @ring_level0_columns1024() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<8 x f32>
// CHECK-LABEL: func.func @ring(
// CHECK-SAME:    %[[X:[^:]+]]: !llvm.ptr {{.+}}, %[[S:[^:]+]]: !llvm.ptr {{.+}}, %[[G:[^:]+]]: !llvm.ptr {{.+}}, %{{[^:]+}}: !llvm.ptr {{.+}}, %[[M:[^:]+]]: i64, %{{[^:]+}}: i64) attributes {fuseops.block = array<i32: 128, 1, 1>, fuseops.residents = 4 : i32}
// What is the same for every row is read once, and before the first.
// CHECK:         %[[AT:.+]] = llvm.getelementptr %[[G]]
// CHECK:         llvm.load %[[AT]] {alignment = 16 : i64} : !llvm.ptr -> vector<8xbf16>
// Two rows are under way before the first is computed, if there are two.
// CHECK:         arith.cmpi slt, %{{.+}}, %[[M]] : i64
// CHECK-NEXT:    scf.if
// CHECK:           nvvm.cp.async.shared.global %{{.+}}, %{{.+}}, 16, cache = cg
// CHECK:           nvvm.cp.async.shared.global %{{.+}}, %{{.+}}, 4, cache = ca
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         arith.cmpi slt, %{{.+}}, %[[M]] : i64
// CHECK-NEXT:    scf.if
// CHECK-COUNT-2:   nvvm.cp.async.shared.global
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         scf.for {{.+}} iter_args(%[[SLOT:.+]] = %{{.+}}, %[[HALF:.+]] = %{{.+}}) -> (i64, i64)
// CHECK-NEXT:      nvvm.cp.async.wait.group 1
// CHECK-COUNT-4:   llvm.inline_asm has_side_effects "mov.b32 $0, $1;"
// CHECK:           arith.addi %[[SLOT]],
// CHECK:           llvm.load %{{.+}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
// CHECK:           %[[OWN:.+]] = llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xbf16>
// CHECK-NOT:       llvm.load %{{.+}} : !llvm.ptr ->
// CHECK-NOT:       nvvm.barrier0
// CHECK:           scf.if
// CHECK:             llvm.store %{{.+}} : f32, !llvm.ptr<3>
// CHECK:           nvvm.barrier0
// CHECK-NOT:       nvvm.barrier0
// CHECK:           llvm.store %{{.+}} {alignment = 16 : i64} : vector<8xf32>, !llvm.ptr
// The slot is filled again after its last read, with the row after the next.
// CHECK:           scf.if
// CHECK-COUNT-2:     nvvm.cp.async.shared.global
// CHECK:           nvvm.cp.async.commit.group
// CHECK:           %[[NEXT:.+]] = arith.select
// CHECK:           %[[OTHER:.+]] = arith.xori %[[HALF]],
// CHECK:           scf.yield %[[NEXT]], %[[OTHER]]

// CHECK-LABEL: func.func @streams(
// CHECK:         llvm.inline_asm has_side_effects "st.global.cs.v4.b32 [$0], {$1, $2, $3, $4};"
// CHECK-NOT:     llvm.store

// Sums of a block's columns stay in registers, as without a ring.
// CHECK-LABEL: func.func @tiles(
// CHECK:         scf.for {{.+}} iter_args(%{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}) -> (vector<8xf32>, i64)
// CHECK:           nvvm.cp.async.wait.group 1
// CHECK-COUNT-2:   llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xbf16>

// 4096 columns are 42 times three visits of eight threads, and two more.
// CHECK-LABEL: func.func @loop(
// CHECK-DAG:     %[[END:.+]] = arith.constant 4032 : i64
// CHECK-DAG:     %[[STEP:.+]] = arith.constant 96 : i64
// CHECK:           scf.for %{{.+}} = %{{.+}} to %[[END]] step %[[STEP]]
// CHECK-COUNT-3:     llvm.load %{{.+}} -> vector<4xf32>
// CHECK-COUNT-3:     llvm.store %{{.+}} : vector<4xf32>
// CHECK:           scf.for
// CHECK:             llvm.load %{{.+}} -> vector<4xf32>
// CHECK-NEXT:        arith.
