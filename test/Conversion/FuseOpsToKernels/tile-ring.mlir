// Tile kernels whose inputs are fetched ahead (`stages`), that draw their tiles
// (`tickets`), and that leave partial results of tiles (`tile_partials`).
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cuda --canonicalize --cse | FileCheck %s
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cpu --canonicalize --cse | FileCheck %s --check-prefix=CPU

// Two slots of a tile of bf16, 32 KB each. The CPU has none of it.
// CHECK-LABEL: fuseops.fusible @ring(
// CHECK: fuseops.launch @kernels::@ring({{.*}}max_workers = 132 : i64, {{.*}}shared_bytes = 65536 : i64
// CPU-LABEL: fuseops.fusible @ring(
// CPU: fuseops.launch @kernels::@ring(
// CPU-NOT: shared_bytes
// CPU-SAME: : (
fuseops.fusible @ring(%x: tensor<?x256xbf16>) -> (tensor<256x?xf8E4M3FN>, tensor<?x2xf32>)
forward {
  %y:2 = fuseops.group @ring tile schedule {stages = 2 : i64, workers = 132 : i64} (%a = %x) : (tensor<?x256xbf16>) -> (tensor<256x?xf8E4M3FN>, tensor<?x2xf32>) {
    %w = fuseops.pointwise (%v = %a) : (tensor<?x256xbf16>) -> tensor<?x256xf32> {
      %q = math.absf %v : f32
      fuseops.yield %q : f32
    }
    %m = fuseops.reduce_blocks %w block(1, 128) : tensor<?x256xf32> -> tensor<?x2xf32>
    %e = fuseops.expand_blocks %m block(1, 128) : tensor<?x2xf32> -> tensor<?x256xf32>
    %p = fuseops.pointwise (%v = %a, %s = %e) : (tensor<?x256xbf16>, tensor<?x256xf32>) -> tensor<?x256xf8E4M3FN> {
      %q = arith.mulf %v, %s : f32
      fuseops.yield %q : f32
    }
    %t = fuseops.permute %p order[1, 0] : tensor<?x256xf8E4M3FN> -> tensor<256x?xf8E4M3FN>
    fuseops.yield %t, %m : tensor<256x?xf8E4M3FN>, tensor<?x2xf32>
  }
  fuseops.return %y#0, %y#1 : tensor<256x?xf8E4M3FN>, tensor<?x2xf32>
}

// Sums of tiles instead of blocks: one for each tile of a column, and one for each
// tile of what is one element.
// CHECK-LABEL: fuseops.fusible @drawn(
// CHECK: %[[TICKETS:.+]] = fuseops.launch @kernels::@drawn_tickets() {{.*}} : () -> tensor<1xi64>
// CHECK: %[[MAIN:.+]]:3 = fuseops.launch @kernels::@drawn(%{{.+}}, %[[TICKETS]]) {{.*}}rows_per_worker = 128 : i64, shared_bytes = 32768 : i64{{.*}} -> (tensor<256x?xbf16>, tensor<?x256xf32, #fuseops.blocks<128>>, tensor<?x2x1xf32, #fuseops.blocks<128>>)
// CHECK: fuseops.launch @kernels::@drawn_finalize_0(%[[MAIN]]#1) {{.*}}count_max_workers = 2147483647 : i64, count_rows = array<i64: 0, 0, 0, 1>,
// CHECK: fuseops.launch @kernels::@drawn_finalize_1(%[[MAIN]]#2) {{.*}}count_max_workers = 2147483647 : i64, count_rows = array<i64: 0, 0, 0, 2>,
// CPU-LABEL: fuseops.fusible @drawn(
// CPU-NOT: tickets
// CPU: fuseops.launch @kernels::@drawn({{.*}} -> (tensor<256x?xbf16>, tensor<264x256xf32>, tensor<264x1xf32>)
fuseops.fusible @drawn(%x: tensor<?x256xbf16>) -> (tensor<256x?xbf16>, tensor<256xf32>, tensor<f32>)
forward {
  %y:3 = fuseops.group @drawn tile schedule {stages = 1 : i64, workers = 264 : i64, residents = 2 : i64, tickets = 1 : i64, tile_partials = 1 : i64} (%a = %x) : (tensor<?x256xbf16>) -> (tensor<256x?xbf16>, tensor<256xf32>, tensor<f32>) {
    %r = fuseops.relu %a : tensor<?x256xbf16>
    %s = fuseops.reduce_rows sum %r : tensor<?x256xbf16> -> tensor<256xf32>
    %w = fuseops.amax %r : tensor<?x256xbf16> -> tensor<f32>
    %t = fuseops.permute %r order[1, 0] : tensor<?x256xbf16> -> tensor<256x?xbf16>
    fuseops.yield %t, %s, %w : tensor<256x?xbf16>, tensor<256xf32>, tensor<f32>
  }
  fuseops.return %y#0, %y#1, %y#2 : tensor<256x?xbf16>, tensor<256xf32>, tensor<f32>
}

// A fixed number of rows has a fixed number of tiles.
// CHECK-LABEL: fuseops.fusible @fixed(
// CHECK: fuseops.launch @kernels::@fixed({{.*}} -> (tensor<256x300xbf16>, tensor<3x256xf32>)
// CHECK: fuseops.launch @kernels::@fixed_finalize({{.*}}count_rows = array<i64: 3, 0>,
fuseops.fusible @fixed(%x: tensor<300x256xbf16>) -> (tensor<256x300xbf16>, tensor<256xf32>)
forward {
  %y:2 = fuseops.group @fixed tile schedule {tile_partials = 1 : i64, workers = 5 : i64} (%a = %x) : (tensor<300x256xbf16>) -> (tensor<256x300xbf16>, tensor<256xf32>) {
    %r = fuseops.relu %a : tensor<300x256xbf16>
    %s = fuseops.reduce_rows sum %r : tensor<300x256xbf16> -> tensor<256xf32>
    %t = fuseops.permute %r order[1, 0] : tensor<300x256xbf16> -> tensor<256x300xbf16>
    fuseops.yield %t, %s : tensor<256x300xbf16>, tensor<256xf32>
  }
  fuseops.return %y#0, %y#1 : tensor<256x300xbf16>, tensor<256xf32>
}

// Memory whose size the launch tells. Both slots are filled before the first tile,
// 4 vectors each, one group a slot.
// CHECK: llvm.mlir.global external @ring_ring() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
// CHECK-LABEL: func.func @ring(
// CHECK: scf.if
// CHECK-COUNT-4: nvvm.cp.async.shared.global {{.*}}, 16, cache =  cg
// CHECK-NOT: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.if
// CHECK-COUNT-4: nvvm.cp.async.shared.global {{.*}}, 16, cache =  cg
// CHECK-NOT: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// Every tile waits for its group and reads only its slot. The slot is refilled
// when the first pass is through, since the second keeps its values.
// CHECK: scf.for {{.*}} iter_args(%[[SLOT:.+]] = %{{.+}}) -> (i64)
// CHECK-NEXT: nvvm.cp.async.wait.group 1
// CHECK-NOT: -> vector<8xbf16>
// CHECK-COUNT-4: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xbf16>
// CHECK-NOT: -> vector<8xbf16>
// CHECK: nvvm.barrier0
// CHECK: scf.if
// CHECK-COUNT-4: nvvm.cp.async.shared.global {{.*}}, 16, cache =  cg
// CHECK: nvvm.cp.async.commit.group
// CHECK-NOT: nvvm.cp.async
// CHECK: arith.addi %[[SLOT]], %
// CHECK: %[[NEXT:.+]] = arith.select
// CHECK: scf.yield %[[NEXT]] : i64

// A tile is drawn one tile ahead, by the first thread. Where the copies of a tile
// are on their way out, a barrier has made the number known.
// CHECK-LABEL: func.func @drawn(
// CHECK-SAME: fuseops.residents = 2 : i32
// CHECK: nvvm.cp.async.commit.group
// CHECK: %[[FIRST:.+]] = scf.if
// CHECK: llvm.atomicrmw add %{{.+}}, %c1_i64{{.*}} monotonic : !llvm.ptr<1>, i64
// CHECK: %[[WORD:.+]] = arith.trunci %[[FIRST]] : i64 to i32
// CHECK: scf.while (%{{.+}} = %{{.+}}, %{{.+}} = %[[WORD]])
// CHECK: ^bb0(%{{.+}}: i32, %[[DRAWN:.+]]: i32):
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: scf.if
// CHECK: llvm.store %[[DRAWN]], %[[TICKET:.+]] {alignment = 4 : i64} : i32, !llvm.ptr<3>
// CHECK-NEXT: }
// CHECK: %[[AHEAD:.+]] = scf.if
// CHECK: llvm.atomicrmw add
// CHECK: %[[LEFT:.+]] = arith.trunci %[[AHEAD]] : i64 to i32
// CHECK: nvvm.barrier0
// CHECK: %[[NUMBER:.+]] = llvm.load %{{.+}} {alignment = 4 : i64} : !llvm.ptr<3> -> i32
// CHECK: scf.if
// CHECK-COUNT-4: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// Sums of the tile, then the barrier before the next number is left.
// CHECK: nvvm.shfl.sync
// CHECK-COUNT-5: nvvm.barrier0
// CHECK: scf.yield %{{.+}}, %[[LEFT]] : i32, i32

// The counter is zeroed by a kernel of one thread.
// CHECK-LABEL: func.func @drawn_tickets(
// CHECK-SAME: fuseops.block = array<i32: 1, 1, 1>
// CHECK: %[[ZERO:.+]] = arith.constant 0 : i64
// CHECK: llvm.store %[[ZERO]], %arg0 {alignment = 8 : i64} : i64, !llvm.ptr
