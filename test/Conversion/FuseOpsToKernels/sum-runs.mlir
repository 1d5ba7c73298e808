// Sums of more than 128 terms one after the other are added up in runs of as many:
// of rows by a CPU's worker, of columns by a thread, of partial results, of products.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cpu --canonicalize --cse | FileCheck %s --check-prefix=CPU
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cuda --canonicalize --cse | FileCheck %s --check-prefix=CUDA

// A value a row: each run is summed in a register, and then taken into the partial
// result, which the first one is.
// CPU-LABEL: func.func @values(
// CPU: %[[END:.+]] = arith.minsi
// CPU: %[[PARTIAL:.+]] = llvm.getelementptr
// CPU: scf.while (%[[FROM:.+]] = %[[FIRST:.+]]) : (i64) -> i64 {
// CPU-NEXT: %[[PAST:.+]] = arith.addi %[[FROM]], %c128_i64
// CPU-NEXT: %[[TO:.+]] = arith.minsi %[[END]], %[[PAST]]
// CPU-NEXT: %[[IS_FIRST:.+]] = arith.cmpi eq, %[[FROM]], %[[FIRST]]
// CPU-NEXT: %[[ADDED:.+]] = scf.for %{{.+}} = %[[FROM]] to %[[TO]]
// CPU: %[[SUM:.+]] = scf.if %[[IS_FIRST]] -> (f32) {
// CPU-NEXT: scf.yield %[[ADDED]]
// CPU-NEXT: } else {
// CPU-NEXT: %[[SO_FAR:.+]] = llvm.load %[[PARTIAL]]
// CPU-NEXT: %[[BOTH:.+]] = arith.addf %[[SO_FAR]], %[[ADDED]]
// CPU-NEXT: scf.yield %[[BOTH]]
// CPU: llvm.store %[[SUM]], %[[PARTIAL]]
// CPU-NEXT: %[[GOES_ON:.+]] = arith.cmpi slt, %[[TO]], %[[END]]
// CPU-NEXT: scf.condition(%[[GOES_ON]]) %[[TO]]
// A block's thread has few rows, on a GPU.
// CUDA-LABEL: func.func @values(
// CUDA-NOT: scf.while
fuseops.fusible @values(%x: tensor<?x8xf32>) -> tensor<1xf32>
forward {
  %y = fuseops.group @values row_column (%a = %x) : (tensor<?x8xf32>) -> tensor<1xf32> {
    %r = fuseops.reduce_columns sum %a : tensor<?x8xf32> -> tensor<?x1xf32>
    %s = fuseops.reduce_rows sum %r : tensor<?x1xf32> -> tensor<1xf32>
    fuseops.yield %s : tensor<1xf32>
  }
  fuseops.return %y : tensor<1xf32>
}

// The strips of a block take every 16th partial result, and 128 make a run.
// CUDA: func.func @values_finalize(
// CUDA: %[[TOTAL:.+]] = scf.for %[[FROM:.+]] = %{{.+}} to %{{.+}} step %c65536_i64 iter_args(%[[SO_FAR:.+]] = %cst)
// CUDA: %[[ADDED:.+]] = scf.for %{{.+}} = %[[FROM]] to %{{.+}} step %c512_i64 iter_args(%{{.+}} = %cst)
// CUDA: %[[BOTH:.+]] = arith.addf %[[SO_FAR]], %[[ADDED]]
// CUDA-NEXT: scf.yield %[[BOTH]]

// So many rows are one run for each of the 16 workers.
// CPU-LABEL: func.func @few_rows(
// CPU-NOT: scf.while
// CPU: return
fuseops.fusible @few_rows(%x: tensor<2048x32768xf32>) -> tensor<32768xf32>
forward {
  %y = fuseops.group @few_rows row_column (%a = %x) : (tensor<2048x32768xf32>) -> tensor<32768xf32> {
    %s = fuseops.reduce_rows sum %a : tensor<2048x32768xf32> -> tensor<32768xf32>
    fuseops.yield %s : tensor<32768xf32>
  }
  fuseops.return %y : tensor<32768xf32>
}

// CPU-LABEL: func.func @more_rows(
// CPU: scf.while
fuseops.fusible @more_rows(%x: tensor<2049x32768xf32>) -> tensor<32768xf32>
forward {
  %y = fuseops.group @more_rows row_column (%a = %x) : (tensor<2049x32768xf32>) -> tensor<32768xf32> {
    %s = fuseops.reduce_rows sum %a : tensor<2049x32768xf32> -> tensor<32768xf32>
    fuseops.yield %s : tensor<32768xf32>
  }
  fuseops.return %y : tensor<32768xf32>
}

// No order of its steps changes a maximum.
// CPU-LABEL: func.func @maximum(
// CPU-NOT: scf.while
// CPU: func.func @maximum_finalize(
// CPU-COUNT-2: scf.for
// CPU-NOT: scf.for
// CPU: return
fuseops.fusible @maximum(%x: tensor<?x8xf32>) -> tensor<8xf32>
forward {
  %y = fuseops.group @maximum row_column (%a = %x) : (tensor<?x8xf32>) -> tensor<8xf32> {
    %s = fuseops.reduce_rows max %a : tensor<?x8xf32> -> tensor<8xf32>
    fuseops.yield %s : tensor<8xf32>
  }
  fuseops.return %y : tensor<8xf32>
}

// Vectors of 32 columns: 128 of them make a run.
// CPU-LABEL: func.func @columns(
// CPU: scf.for
// CPU: %[[TOTAL:.+]] = scf.for %[[FROM:.+]] = %c0_i64 to %c4128_i64 step %c4096_i64 iter_args(%[[SO_FAR:.+]] = %cst) -> (vector<32xf32>)
// CPU: %[[ADDED:.+]] = scf.for %{{.+}} = %[[FROM]] to %{{.+}} step %c32_i64 iter_args(%{{.+}} = %cst) -> (vector<32xf32>)
// CPU: %[[BOTH:.+]] = arith.addf %[[SO_FAR]], %[[ADDED]] : vector<32xf32>
// CPU-NEXT: scf.yield %[[BOTH]]
// A thread has fewer on a GPU.
// CUDA-LABEL: func.func @columns(
// CUDA-COUNT-1: scf.for
// CUDA-NOT: scf.for
// CUDA: return
fuseops.fusible @columns(%x: tensor<?x4128xf32>) -> tensor<?x1xf32>
forward {
  %y = fuseops.group @columns row (%a = %x) : (tensor<?x4128xf32>) -> tensor<?x1xf32> {
    %s = fuseops.reduce_columns sum %a : tensor<?x4128xf32> -> tensor<?x1xf32>
    fuseops.yield %s : tensor<?x1xf32>
  }
  fuseops.return %y : tensor<?x1xf32>
}

// CPU-LABEL: func.func @fewer_columns(
// CPU-COUNT-2: scf.for
// CPU-NOT: scf.for
// CPU: return
fuseops.fusible @fewer_columns(%x: tensor<?x4096xf32>) -> tensor<?x1xf32>
forward {
  %y = fuseops.group @fewer_columns row (%a = %x) : (tensor<?x4096xf32>) -> tensor<?x1xf32> {
    %s = fuseops.reduce_columns sum %a : tensor<?x4096xf32> -> tensor<?x1xf32>
    fuseops.yield %s : tensor<?x1xf32>
  }
  fuseops.return %y : tensor<?x1xf32>
}

// CUDA-LABEL: func.func @many_columns(
// CUDA: scf.for
// CUDA: scf.for %{{.+}} = %{{.+}} to %c1048576_i64 step %c131072_i64
// CUDA-NEXT: %[[PAST:.+]] = arith.addi
// CUDA-NEXT: arith.minsi %[[PAST]], %c1048576_i64
// CUDA-NEXT: scf.for
fuseops.fusible @many_columns(%x: tensor<?x1048576xf32>) -> tensor<?x1xf32>
forward {
  %y = fuseops.group @many_columns row schedule {threads = 256 : i64} (%a = %x) : (tensor<?x1048576xf32>) -> tensor<?x1xf32> {
    %s = fuseops.reduce_columns sum %a : tensor<?x1048576xf32> -> tensor<?x1xf32>
    fuseops.yield %s : tensor<?x1xf32>
  }
  fuseops.return %y : tensor<?x1xf32>
}

// CPU-LABEL: func.func @product(
// CPU: %[[TOTAL:.+]] = scf.for %[[FROM:.+]] = %{{.+}} to %{{.+}} step %c128_i64 iter_args(%[[SO_FAR:.+]] = %cst)
// CPU: %[[ADDED:.+]] = scf.for %{{.+}} = %[[FROM]] to %{{.+}} step %c1_i64 iter_args(%{{.+}} = %cst)
// CPU: math.fma
// CPU: %[[BOTH:.+]] = arith.addf %[[SO_FAR]], %[[ADDED]]
// CPU-NEXT: scf.yield %[[BOTH]]
fuseops.fusible @product(%x: tensor<?x8xf32>, %w: tensor<2x8x4xf32>, %n: tensor<2xi64>) -> tensor<?x4xf32>
forward {
  %y = fuseops.group @product library (%a = %x, %b = %w, %c = %n) : (tensor<?x8xf32>, tensor<2x8x4xf32>, tensor<2xi64>) -> tensor<?x4xf32> {
    %s = fuseops.grouped_matmul %a, %b sizes(%c) : tensor<?x8xf32>, tensor<2x8x4xf32>, tensor<2xi64> -> tensor<?x4xf32>
    fuseops.yield %s : tensor<?x4xf32>
  }
  fuseops.return %y : tensor<?x4xf32>
}
