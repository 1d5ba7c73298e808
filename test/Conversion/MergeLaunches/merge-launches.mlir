// Small launches wait for who reads them and then run as parts of one.
// RUN: fuse-opt %s "--pass-pipeline=builtin.module(convert-fuseops-to-kernels{target=cuda},fuseops-merge-launches,canonicalize,cse)" | FileCheck %s --check-prefixes=PLAN,CUDA
// RUN: fuse-opt %s "--pass-pipeline=builtin.module(convert-fuseops-to-kernels{target=cpu},fuseops-merge-launches,canonicalize,cse)" | FileCheck %s --check-prefixes=PLAN,CPU

// What reads nothing of one another runs side by side, beside the finalize of an
// amax: a worker each. The kernel gets the symbol, which says how many partial
// results there are.
// PLAN-LABEL: fuseops.fusible @beside(
// PLAN: %[[MAIN:.+]]:2 = fuseops.launch @kernels::@quantize(%[[X:.+]], %[[S:.+]]) {
// PLAN-NEXT: %[[SMALL:.+]]:2 = fuseops.launch @kernels::@quantize_finalize(%[[S]], %[[MAIN]]#1) {bytes = array<i64: 12, 0>, count_max_workers = 2147483647 : i64, count_rows = array<i64: 0, 1>, kernel_template = #fuseops<kernel_template finalize>, max_workers = 2 : i64, members = ["fuseops.pointwise", "fuseops.relu", "fuseops.amax"], rows = array<i64: 2, 0>, rows_per_worker = 1 : i64,
// PLAN-NEXT: fuseops.return %[[MAIN]]#0, %[[SMALL]]#1, %[[SMALL]]#0
fuseops.fusible @beside(%x: tensor<?x64xf32>, %s: tensor<f32>) -> (tensor<?x64xf32>, tensor<f32>, tensor<f32>) attributes {frozen_results = array<i64: 0, 1, 2>}
forward {
  %inverse = fuseops.group @inverse pointwise (%b = %s) : (tensor<f32>) -> tensor<f32> {
    %i = fuseops.pointwise (%c = %b) : (tensor<f32>) -> tensor<f32> {
      %one = arith.constant 1.0 : f32
      %r = arith.divf %one, %c : f32
      fuseops.yield %r : f32
    }
    fuseops.yield %i : tensor<f32>
  }
  %y:2 = fuseops.group @quantize row_column (%a = %x, %b = %s) : (tensor<?x64xf32>, tensor<f32>) -> (tensor<?x64xf32>, tensor<f32>) {
    %r = fuseops.relu %a : tensor<?x64xf32>
    %m = fuseops.amax %a : tensor<?x64xf32> -> tensor<f32>
    fuseops.yield %r, %m : tensor<?x64xf32>, tensor<f32>
  }
  fuseops.return %y#0, %y#1, %inverse : tensor<?x64xf32>, tensor<f32>, tensor<f32>
}

// A chain runs in one worker, in order, before who reads its end; so does what
// could run later, but has all that it reads.
// PLAN-LABEL: fuseops.fusible @chain(
// PLAN-NEXT: forward {
// PLAN-NEXT: %[[MAIN:.+]] = fuseops.launch @kernels::@main(
// PLAN-NEXT: %[[SMALL:.+]]:3 = fuseops.launch @kernels::@main_finalize(%[[MAIN]], %[[Z:.+]]) {{.*}}max_workers = 2 : i64, members = ["fuseops.amax", "fuseops.compute_scale", "fuseops.relu"]
// PLAN-NEXT: %[[Y:.+]] = fuseops.launch @kernels::@scaled(%{{.+}}, %[[SMALL]]#1) {
// PLAN-NEXT: fuseops.return %[[Y]], %[[SMALL]]#1, %[[SMALL]]#2
fuseops.fusible @chain(%x: tensor<?x64xf32>, %z: tensor<7xf32>) -> (tensor<?x64xf32>, tensor<f32>, tensor<7xf32>) attributes {frozen_results = array<i64: 0, 1, 2>}
forward {
  %amax = fuseops.group @main row_column (%a = %x) : (tensor<?x64xf32>) -> tensor<f32> {
    %m = fuseops.amax %a : tensor<?x64xf32> -> tensor<f32>
    fuseops.yield %m : tensor<f32>
  }
  %scale = fuseops.group @scale pointwise (%a = %amax) : (tensor<f32>) -> tensor<f32> {
    %m = fuseops.compute_scale %a format(f8E4M3FN) : tensor<f32>
    fuseops.yield %m : tensor<f32>
  }
  %y = fuseops.group @scaled pointwise (%a = %x, %b = %scale) : (tensor<?x64xf32>, tensor<f32>) -> tensor<?x64xf32> {
    %m = fuseops.mul %a, %b : tensor<?x64xf32>, tensor<f32> -> tensor<?x64xf32>
    fuseops.yield %m : tensor<?x64xf32>
  }
  %later = fuseops.group @later pointwise (%a = %z) : (tensor<7xf32>) -> tensor<7xf32> {
    %m = fuseops.relu %a : tensor<7xf32>
    fuseops.yield %m : tensor<7xf32>
  }
  fuseops.return %y, %scale, %later : tensor<?x64xf32>, tensor<f32>, tensor<7xf32>
}

// The finalize of many columns takes the others in: its own workers come first.
// PLAN-LABEL: fuseops.fusible @wide(
// PLAN: %[[MAIN:.+]]:2 = fuseops.launch @kernels::@sums(
// CUDA-NEXT: %[[SMALL:.+]]:2 = fuseops.launch @kernels::@sums_finalize_0({{.*}}max_workers = 33 : i64, members = ["fuseops.reduce_rows", "fuseops.amax"]
// CPU-NEXT: %[[SMALL:.+]]:2 = fuseops.launch @kernels::@sums_finalize_0({{.*}}max_workers = 5 : i64
// PLAN-NEXT: fuseops.return %[[SMALL]]#0, %[[SMALL]]#1
fuseops.fusible @wide(%x: tensor<?x1024xf32>) -> (tensor<1024xf32>, tensor<f32>) attributes {frozen_results = array<i64: 0, 1>}
forward {
  %y:2 = fuseops.group @sums row_column (%a = %x) : (tensor<?x1024xf32>) -> (tensor<1024xf32>, tensor<f32>) {
    %s = fuseops.reduce_rows sum %a : tensor<?x1024xf32> -> tensor<1024xf32>
    %m = fuseops.amax %a : tensor<?x1024xf32> -> tensor<f32>
    fuseops.yield %s, %m : tensor<1024xf32>, tensor<f32>
  }
  fuseops.return %y#0, %y#1 : tensor<1024xf32>, tensor<f32>
}

// Reshapes of what a part gives, and who reads them within the launch.
// PLAN-LABEL: fuseops.fusible @reshaped(
// PLAN-NEXT: forward {
// PLAN-NEXT: %[[SMALL:.+]]:2 = fuseops.launch @kernels::@first(%{{[^,]+}}) {{.*}}max_workers = 1 : i64, members = ["fuseops.relu", "fuseops.silu"]
// PLAN-NEXT: %[[R:.+]] = fuseops.reshape %[[SMALL]]#0 : tensor<6xf32> -> tensor<2x3xf32>
// PLAN-NEXT: fuseops.return %[[R]], %[[SMALL]]#1
fuseops.fusible @reshaped(%x: tensor<6xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) attributes {frozen_results = array<i64: 0, 1>}
forward {
  %y = fuseops.group @first pointwise (%a = %x) : (tensor<6xf32>) -> tensor<6xf32> {
    %m = fuseops.relu %a : tensor<6xf32>
    fuseops.yield %m : tensor<6xf32>
  }
  %r = fuseops.reshape %y : tensor<6xf32> -> tensor<2x3xf32>
  %z = fuseops.group @second pointwise (%a = %r) : (tensor<2x3xf32>) -> tensor<2x3xf32> {
    %m = fuseops.silu %a : tensor<2x3xf32>
    fuseops.yield %m : tensor<2x3xf32>
  }
  fuseops.return %r, %z : tensor<2x3xf32>, tensor<2x3xf32>
}

// A launch that is alone stays where it is, between the others.
// PLAN-LABEL: fuseops.fusible @alone(
// PLAN: %[[MAIN:.+]]:2 = fuseops.launch @kernels::@alone_main(
// PLAN-NEXT: %[[SUM:.+]] = fuseops.launch @kernels::@alone_main_finalize(%[[MAIN]]#1) {bytes = array<i64: 4, 0>, count_max_workers = {{[0-9]+}} : i64, count_rows = array<i64: 0, 1>
// PLAN-NEXT: %[[Y:.+]] = fuseops.launch @kernels::@alone_rest(%[[MAIN]]#0) {
// PLAN-NEXT: fuseops.return %[[Y]], %[[SUM]]
fuseops.fusible @alone(%x: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<f32>) attributes {frozen_results = array<i64: 0, 1>}
forward {
  %y:2 = fuseops.group @alone_main row_column (%a = %x) : (tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<f32>) {
    %r = fuseops.relu %a : tensor<?x64xf32>
    %m = fuseops.amax %a : tensor<?x64xf32> -> tensor<f32>
    fuseops.yield %r, %m : tensor<?x64xf32>, tensor<f32>
  }
  %z = fuseops.group @alone_rest pointwise (%a = %y#0) : (tensor<?x64xf32>) -> tensor<?x64xf32> {
    %m = fuseops.silu %a : tensor<?x64xf32>
    fuseops.yield %m : tensor<?x64xf32>
  }
  fuseops.return %z, %y#1 : tensor<?x64xf32>, tensor<f32>
}

// What grows with the symbol, and what has more than 8192 elements, is not small.
// PLAN-LABEL: fuseops.fusible @large(
// PLAN: fuseops.launch @kernels::@grows(
// PLAN-NEXT: fuseops.launch @kernels::@long(
// PLAN-NEXT: fuseops.return
fuseops.fusible @large(%x: tensor<?x1xf32>, %z: tensor<8193xf32>) -> (tensor<?x1xf32>, tensor<8193xf32>) attributes {frozen_results = array<i64: 0, 1>}
forward {
  %y = fuseops.group @grows pointwise (%a = %x) : (tensor<?x1xf32>) -> tensor<?x1xf32> {
    %m = fuseops.relu %a : tensor<?x1xf32>
    fuseops.yield %m : tensor<?x1xf32>
  }
  %w = fuseops.group @long pointwise (%a = %z) : (tensor<8193xf32>) -> tensor<8193xf32> {
    %m = fuseops.relu %a : tensor<8193xf32>
    fuseops.yield %m : tensor<8193xf32>
  }
  fuseops.return %y, %w : tensor<?x1xf32>, tensor<8193xf32>
}

// On CUDA a block with a schedule of its own has other threads than the rest.
// PLAN-LABEL: fuseops.fusible @scheduled(
// CUDA: fuseops.launch @kernels::@own({{.*}}threads_x = 32
// CUDA-NEXT: fuseops.launch @kernels::@other(
// CPU: fuseops.launch @kernels::@own({{.*}}max_workers = 2 : i64
// PLAN-NEXT: fuseops.return
fuseops.fusible @scheduled(%x: tensor<64xf32>, %z: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) attributes {frozen_results = array<i64: 0, 1>}
forward {
  %y = fuseops.group @own pointwise schedule {threads = 32 : i64} (%a = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    %m = fuseops.relu %a : tensor<64xf32>
    fuseops.yield %m : tensor<64xf32>
  }
  %w = fuseops.group @other pointwise (%a = %z) : (tensor<64xf32>) -> tensor<64xf32> {
    %m = fuseops.relu %a : tensor<64xf32>
    fuseops.yield %m : tensor<64xf32>
  }
  fuseops.return %y, %w : tensor<64xf32>, tensor<64xf32>
}

// The copied kernels are gone. Threads count as in each kernel's own block,
// shared memory is one, and a barrier stands between what runs one after the
// other.
// PLAN-LABEL: module @kernels
// PLAN-NOT: func.func @inverse(
// PLAN-NOT: func.func @scale(
// CUDA: llvm.mlir.global internal @main_finalize_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<2048 x i8>
// CUDA: func.func @main_finalize({{.*}}, %[[SYMBOL:[^:]+]]: i64) attributes {fuseops.block = array<i32: 512, 1, 1>, fuseops.starts_early}
// CUDA: %[[BLOCK:.+]] = nvvm.read.ptx.sreg.ctaid.x
// CUDA: arith.extui %[[BLOCK]]
// CUDA: arith.cmpi slt, {{.*}}, %c1_i64
// CUDA: scf.if
// CUDA: arith.remui %{{.+}}, %c32_i32
// CUDA: nvvm.barrier0
// CUDA: nvvm.barrier0
// CUDA: } else {
// CPU: func.func @main_finalize(%[[TENSORS:[^:]+]]: !llvm.ptr, %{{.+}}: i64, %[[SYMBOL:[^:]+]]: i64, %[[WORKER:[^:]+]]: i64, %{{.+}}: i64)
// CPU: arith.cmpi slt, %[[WORKER]], %c1_i64
// CPU: %[[PARTS:.+]] = arith.ceildivui %[[SYMBOL]], %c512_i64
// CPU: arith.minui %[[PARTS]], %c16_i64
