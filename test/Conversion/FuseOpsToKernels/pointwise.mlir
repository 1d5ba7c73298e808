// Pointwise groups: one pass over each row, vectors and what is left of them.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cpu --canonicalize --cse | FileCheck %s --check-prefix=CPU
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cuda --canonicalize --cse | FileCheck %s --check-prefix=CUDA

// The launch: what it reads and writes, and what its members would.
// CPU-LABEL: fuseops.fusible @vectors_and_tail(
// CPU: fuseops.launch @kernels::@vectors_and_tail(%{{.+}}, %{{.+}}) {bytes = array<i64: 48, 96>, kernel_template = #fuseops<kernel_template pointwise>, max_workers = {{[0-9]+}} : i64, members = ["fuseops.bias", "fuseops.relu"], rows = array<i64: 0, 1>, rows_per_worker = {{[0-9]+}} : i64, unfused_bytes = array<i64: 48, 192>} : (tensor<?x24xbf16>, tensor<24xbf16>) -> tensor<?x24xbf16>
// CUDA-LABEL: fuseops.fusible @vectors_and_tail(
// CUDA: fuseops.launch @kernels::@vectors_and_tail(%{{.+}}, %{{.+}}) {bytes = array<i64: 48, 96>, kernel_template = #fuseops<kernel_template pointwise>, max_workers = {{[0-9]+}} : i64, members = ["fuseops.bias", "fuseops.relu"], rows = array<i64: 0, 1>, rows_per_worker = 32 : i64, threads_x = 4 : i64, threads_y = 32 : i64, unfused_bytes = array<i64: 48, 192>}
fuseops.fusible @vectors_and_tail(%x: tensor<?x24xbf16>, %b: tensor<24xbf16>) -> tensor<?x24xbf16>
forward {
  %y = fuseops.group @vectors_and_tail pointwise schedule {rows = 32 : i64, threads = 4 : i64} (%a = %x, %c = %b) : (tensor<?x24xbf16>, tensor<24xbf16>) -> tensor<?x24xbf16> {
    %z = fuseops.bias %a, %c : tensor<?x24xbf16>, tensor<24xbf16>
    %r = fuseops.relu %z : tensor<?x24xbf16>
    fuseops.yield %r : tensor<?x24xbf16>
  }
  fuseops.return %y : tensor<?x24xbf16>
}

fuseops.fusible @glu(%x: tensor<?x16xbf16>) -> tensor<?x8xbf16>
forward {
  %y = fuseops.group @glu pointwise (%a = %x) : (tensor<?x16xbf16>) -> tensor<?x8xbf16> {
    %r = fuseops.swiglu %a activation(last) : tensor<?x16xbf16> -> tensor<?x8xbf16>
    fuseops.yield %r : tensor<?x8xbf16>
  }
  fuseops.return %y : tensor<?x8xbf16>
}

fuseops.fusible @glu_grad(%dy: tensor<?x8xbf16>, %x: tensor<?x16xbf16>) -> tensor<?x16xbf16>
forward {
  %y = fuseops.group @glu_grad pointwise (%g = %dy, %a = %x) : (tensor<?x8xbf16>, tensor<?x16xbf16>) -> tensor<?x16xbf16> {
    %first = fuseops.slice %a dim(1) offset(0) : tensor<?x16xbf16> -> tensor<?x8xbf16>
    %last = fuseops.slice %a dim(1) offset(8) : tensor<?x16xbf16> -> tensor<?x8xbf16>
    %d = fuseops.mul %g, %last : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
    %da = fuseops.silu_grad %d, %first : tensor<?x8xbf16>
    %s = fuseops.silu %first : tensor<?x8xbf16>
    %db = fuseops.mul %g, %s : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
    %r = fuseops.concat %da, %db dim(1) : (tensor<?x8xbf16>, tensor<?x8xbf16>) -> tensor<?x16xbf16>
    fuseops.yield %r : tensor<?x16xbf16>
  }
  fuseops.return %y : tensor<?x16xbf16>
}

fuseops.fusible @fp8_r2_saturates(%x: tensor<4x16xf32>) -> tensor<4x16xf8E4M3FN>
forward {
  %y = fuseops.group @fp8 pointwise (%a = %x) : (tensor<4x16xf32>) -> tensor<4x16xf8E4M3FN> {
    %r = fuseops.pointwise (%s = %a) : (tensor<4x16xf32>) -> tensor<4x16xf8E4M3FN> {
      fuseops.yield %s : f32
    }
    fuseops.yield %r : tensor<4x16xf8E4M3FN>
  }
  fuseops.return %y : tensor<4x16xf8E4M3FN>
}

// CPU: module @kernels {

// Vectors of 16 to column 16, then one column at a time. One pointer array.
// CPU: func.func @vectors_and_tail(%[[POINTERS:.+]]: !llvm.ptr, %[[ROWS:.+]]: i64, %{{.+}}: i64, %[[WORKER:.+]]: i64, %[[WORKERS:.+]]: i64) {
// CPU-DAG: %[[C1:.+]] = arith.constant 1 : i64
// CPU-DAG: %[[C16:.+]] = arith.constant 16 : i64
// CPU-DAG: %[[C24:.+]] = arith.constant 24 : i64
// CPU-DAG: %[[X:.+]] = llvm.load %[[POINTERS]] : !llvm.ptr -> !llvm.ptr
// CPU: %[[CHUNK:.+]] = arith.divsi %{{.+}}, %[[WORKERS]] : i64
// CPU-NEXT: %[[FROM:.+]] = arith.muli %[[WORKER]], %[[CHUNK]] : i64
// CPU-NEXT: %[[END:.+]] = arith.addi %[[FROM]], %[[CHUNK]] : i64
// CPU-NEXT: %[[TO:.+]] = arith.minsi %[[ROWS]], %[[END]] : i64
// CPU-NEXT: scf.for %[[ROW:.+]] = %[[FROM]] to %[[TO]] step %[[C1]] : i64 {
// CPU: llvm.load %{{.+}} {alignment = 2 : i64} : !llvm.ptr -> vector<16xbf16>
// CPU: arith.extf %{{.+}} : vector<16xbf16> to vector<16xf32>
// CPU: arith.addf %{{.+}}, %{{.+}} : vector<16xf32>
// CPU-NEXT: arith.maximumf %{{.+}}, %{{.+}} : vector<16xf32>
// CPU-NEXT: arith.truncf %{{.+}} : vector<16xf32> to vector<16xbf16>
// CPU: llvm.store %{{.+}}, %{{.+}} {alignment = 2 : i64} : vector<16xbf16>, !llvm.ptr
// CPU-NEXT: scf.for %{{.+}} = %[[C16]] to %[[C24]] step %[[C1]] : i64 {
// CPU: arith.addf %{{.+}}, %{{.+}} : f32
// CPU: llvm.store %{{.+}}, %{{.+}} {alignment = 2 : i64} : bf16, !llvm.ptr
// CPU: return

// The slices are addresses: the gate at column 8 of the same rows.
// CPU: func.func @glu(
// CPU-NOT: scf.if
// CPU-DAG: %[[C16:.+]] = arith.constant 16 : i64
// CPU-DAG: %[[C8:.+]] = arith.constant 8 : i64
// CPU: arith.muli %[[ROW:.+]], %[[C16]] : i64
// CPU: arith.muli %[[ROW]], %[[C8]] : i64
// CPU: llvm.store %{{.+}}, %{{.+}} {alignment = 2 : i64}
// CPU: return

// The two parts of the concatenation are two stores into one tensor.
// CPU: func.func @glu_grad(
// CPU-COUNT-2: llvm.store %{{.+}}, %{{.+}} {alignment = 2 : i64} : bf16, !llvm.ptr
// CPU-NOT: llvm.store
// CPU: return

// CPU: func.func @fp8(
// CPU-DAG: %[[LOW:.+]] = arith.constant dense<-4.480000e+02> : vector<16xf32>
// CPU-DAG: %[[HIGH:.+]] = arith.constant dense<4.480000e+02> : vector<16xf32>
// CPU: %[[A:.+]] = arith.maximumf %{{.+}}, %[[LOW]] : vector<16xf32>
// CPU-NEXT: %[[B:.+]] = arith.minimumf %[[A]], %[[HIGH]] : vector<16xf32>
// CPU-NEXT: %[[Q:.+]] = arith.truncf %[[B]] : vector<16xf32> to vector<16xf8E4M3FN>
// CPU: arith.bitcast %{{.+}} : vector<16xf8E4M3FN> to vector<16xi8>

// CUDA: module @kernels {

// 3 vectors of 8 on 4 threads, 32 rows a block: the fourth thread, and rows
// beyond the last, read what is there and store nothing, without a branch.
// CUDA: func.func @vectors_and_tail(%{{.+}}: !llvm.ptr {llvm.noalias, llvm.readonly}, %{{.+}}: !llvm.ptr {llvm.noalias, llvm.readonly}, %[[Y:.+]]: !llvm.ptr {llvm.noalias}, %[[ROWS:.+]]: i64, %{{.+}}: i64) attributes {fuseops.block = array<i32: 4, 32, 1>} {
// CUDA: nvvm.read.ptx.sreg.tid.x
// CUDA: nvvm.read.ptx.sreg.tid.y
// CUDA: nvvm.read.ptx.sreg.ctaid.x
// CUDA: nvvm.read.ptx.sreg.nctaid.x
// CUDA: scf.for %{{.+}} = %{{.+}} to %[[ROWS]] step %{{.+}} : i64 {
// CUDA: %[[IN_ROWS:.+]] = arith.cmpi slt, %{{.+}}, %[[ROWS]] : i64
// CUDA: %[[IN_COLUMNS:.+]] = arith.cmpi slt, %{{.+}}, %{{.+}} : i64
// CUDA: %[[VALID:.+]] = arith.andi %[[IN_COLUMNS]], %[[IN_ROWS]] : i1
// CUDA: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<8xbf16>
// CUDA-NOT: scf.if
// CUDA: llvm.inline_asm has_side_effects "@$5 st.global.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,b,~{memory}" %{{.+}}, %[[VALID]] :
// CUDA: return

// CUDA: func.func @glu(
// CUDA-COUNT-2: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<8xbf16>
// CUDA: st.global.v4.b32
// CUDA: return

// CUDA: func.func @glu_grad(
// CUDA-COUNT-2: st.global.v4.b32
// CUDA-NOT: st.global
// CUDA: return
