// The schedules of tile kernels at full width, as ptxas sees them: the registers of
// two blocks on a processor without a spill, and no warning C75xx. The groups are
// those that the planner makes of SwiGLU, of a bare quantization and of the gradient
// of GELU with that of its bias, each in blocks of 1x128 with both copies.
// REQUIRES: ptxas
// RUN: fuse-compile %s --entry=swiglu --target=cuda:sm_90a --emit=ptx -o %t.ptx
// RUN: %ptxas -arch=sm_90a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --implicit-check-not=C75 --implicit-check-not='{{[1-9][0-9]*}} bytes spill'
// RUN: fuse-compile %s --entry=swiglu_drawn --target=cuda:sm_90a --emit=ptx -o %t.ptx
// RUN: %ptxas -arch=sm_90a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --implicit-check-not=C75 --implicit-check-not='{{[1-9][0-9]*}} bytes spill'
// RUN: fuse-compile %s --entry=quantize --target=cuda:sm_90a --emit=ptx -o %t.ptx
// RUN: %ptxas -arch=sm_90a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --implicit-check-not=C75 --implicit-check-not='{{[1-9][0-9]*}} bytes spill'
// RUN: fuse-compile %s --entry=dgelu_dbias --target=cuda:sm_90a --emit=ptx -o %t.ptx
// RUN: %ptxas -arch=sm_90a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --implicit-check-not=C75 --implicit-check-not='{{[1-9][0-9]*}} bytes spill'
// Two slots of the three inputs of SwiGLU's gradient, 192 KB, leave 35 KB: for the
// scales of its two results, and in turn for maxima and two transposed copies.
// RUN: fuse-compile %S/../../benchmarks/swiglu.mlir --entry=dswiglu_fp8_rc.block --target=cuda:sm_90a --compile-to=fusion -o - | sed 's/@forward_0 tile (/@forward_0 tile schedule {residents = 1 : i64, stages = 2 : i64, threads = 512 : i64, tickets = 1 : i64, workers = 132 : i64} (/' > %t.mlir
// RUN: fuse-compile %t.mlir --target=cuda:sm_90a --emit=ptx -o %t.ptx
// RUN: %ptxas -arch=sm_90a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefixes=CHECK,LARGE --implicit-check-not=C75 --implicit-check-not='{{[1-9][0-9]*}} bytes spill'
// CHECK: 0 bytes spill
// LARGE: 34832 bytes smem

fuseops.fusible @swiglu(%arg0: tensor<?x28672xbf16>) -> (tensor<?x14336xf8E4M3FN>, tensor<112x?xf32>, tensor<14336x?xf8E4M3FN>, tensor<?x14336xf32, #fuseops.blocks<128>>) attributes {frozen_results = array<i64: 0, 1, 2, 3>}
forward {
  %0:4 = fuseops.group @forward_0 tile schedule {stages = 1 : i64, residents = 2 : i64} (%arg1 = %arg0) : (tensor<?x28672xbf16>) -> (tensor<?x14336xf8E4M3FN>, tensor<112x?xf32>, tensor<?x14336xf32, #fuseops.blocks<128>>, tensor<14336x?xf8E4M3FN>) {
    %1 = fuseops.swiglu %arg1 activation(first) : tensor<?x28672xbf16> -> tensor<?x14336xbf16>
    %2 = fuseops.pointwise (%arg2 = %1) : (tensor<?x14336xbf16>) -> tensor<?x14336xf32> {
      %16 = math.absf %arg2 : f32
      fuseops.yield %16 : f32
    }
    %3 = fuseops.reduce_blocks %2 block(1, 128) : tensor<?x14336xf32> -> tensor<?x112xf32>
    %4 = fuseops.pointwise (%arg2 = %3) : (tensor<?x112xf32>) -> tensor<?x112xf32> {
      %cst = arith.constant 1.000000e+00 : f32
      %cst_0 = arith.constant 0x7F800000 : f32
      %cst_1 = arith.constant 4.480000e+02 : f32
      %16 = arith.divf %cst_1, %arg2 : f32
      %cst_2 = arith.constant 3.40282347E+38 : f32
      %17 = arith.cmpf oeq, %16, %cst_0 : f32
      %18 = arith.select %17, %cst_2, %16 : f32
      %19 = arith.bitcast %18 : f32 to i32
      %c-8388608_i32 = arith.constant -8388608 : i32
      %20 = arith.andi %19, %c-8388608_i32 : i32
      %21 = arith.bitcast %20 : i32 to f32
      %cst_3 = arith.constant 0.000000e+00 : f32
      %22 = arith.cmpf ogt, %arg2, %cst_3 : f32
      %23 = arith.cmpf olt, %arg2, %cst_0 : f32
      %24 = arith.andi %22, %23 : i1
      %25 = arith.select %24, %21, %cst : f32
      fuseops.yield %25 : f32
    }
    %5 = fuseops.pointwise (%arg2 = %4) : (tensor<?x112xf32>) -> tensor<?x112xf32> {
      %cst = arith.constant 1.000000e+00 : f32
      %16 = arith.divf %cst, %arg2 : f32
      fuseops.yield %16 : f32
    }
    %6 = fuseops.expand_blocks %4 block(1, 128) : tensor<?x112xf32> -> tensor<?x14336xf32>
    %7 = fuseops.pointwise (%arg2 = %1, %arg3 = %6) : (tensor<?x14336xbf16>, tensor<?x14336xf32>) -> tensor<?x14336xf8E4M3FN> {
      %16 = arith.mulf %arg2, %arg3 : f32
      %cst = arith.constant -4.480000e+02 : f32
      %17 = arith.maximumf %16, %cst : f32
      %cst_0 = arith.constant 4.480000e+02 : f32
      %18 = arith.minimumf %17, %cst_0 : f32
      fuseops.yield %18 : f32
    }
    %8 = fuseops.permute %5 order[1, 0] : tensor<?x112xf32> -> tensor<112x?xf32>
    %9 = fuseops.pointwise (%arg2 = %1) : (tensor<?x14336xbf16>) -> tensor<?x14336xf32> {
      %16 = math.absf %arg2 : f32
      fuseops.yield %16 : f32
    }
    %10 = fuseops.reduce_blocks %9 block(128, 1) : tensor<?x14336xf32> -> tensor<?x14336xf32, #fuseops.blocks<128>>
    %11 = fuseops.pointwise (%arg2 = %10) : (tensor<?x14336xf32, #fuseops.blocks<128>>) -> tensor<?x14336xf32, #fuseops.blocks<128>> {
      %cst = arith.constant 1.000000e+00 : f32
      %cst_0 = arith.constant 0x7F800000 : f32
      %cst_1 = arith.constant 4.480000e+02 : f32
      %16 = arith.divf %cst_1, %arg2 : f32
      %cst_2 = arith.constant 3.40282347E+38 : f32
      %17 = arith.cmpf oeq, %16, %cst_0 : f32
      %18 = arith.select %17, %cst_2, %16 : f32
      %19 = arith.bitcast %18 : f32 to i32
      %c-8388608_i32 = arith.constant -8388608 : i32
      %20 = arith.andi %19, %c-8388608_i32 : i32
      %21 = arith.bitcast %20 : i32 to f32
      %cst_3 = arith.constant 0.000000e+00 : f32
      %22 = arith.cmpf ogt, %arg2, %cst_3 : f32
      %23 = arith.cmpf olt, %arg2, %cst_0 : f32
      %24 = arith.andi %22, %23 : i1
      %25 = arith.select %24, %21, %cst : f32
      fuseops.yield %25 : f32
    }
    %12 = fuseops.pointwise (%arg2 = %11) : (tensor<?x14336xf32, #fuseops.blocks<128>>) -> tensor<?x14336xf32, #fuseops.blocks<128>> {
      %cst = arith.constant 1.000000e+00 : f32
      %16 = arith.divf %cst, %arg2 : f32
      fuseops.yield %16 : f32
    }
    %13 = fuseops.expand_blocks %11 block(128, 1) : tensor<?x14336xf32, #fuseops.blocks<128>> -> tensor<?x14336xf32>
    %14 = fuseops.pointwise (%arg2 = %1, %arg3 = %13) : (tensor<?x14336xbf16>, tensor<?x14336xf32>) -> tensor<?x14336xf8E4M3FN> {
      %16 = arith.mulf %arg2, %arg3 : f32
      %cst = arith.constant -4.480000e+02 : f32
      %17 = arith.maximumf %16, %cst : f32
      %cst_0 = arith.constant 4.480000e+02 : f32
      %18 = arith.minimumf %17, %cst_0 : f32
      fuseops.yield %18 : f32
    }
    %15 = fuseops.permute %14 order[1, 0] : tensor<?x14336xf8E4M3FN> -> tensor<14336x?xf8E4M3FN>
    fuseops.yield %7, %8, %12, %15 : tensor<?x14336xf8E4M3FN>, tensor<112x?xf32>, tensor<?x14336xf32, #fuseops.blocks<128>>, tensor<14336x?xf8E4M3FN>
  }
  fuseops.return %0#0, %0#1, %0#3, %0#2 save(%arg0) : tensor<?x14336xf8E4M3FN>, tensor<112x?xf32>, tensor<14336x?xf8E4M3FN>, tensor<?x14336xf32, #fuseops.blocks<128>>, tensor<?x28672xbf16>
}
backward (saved %arg0: tensor<?x28672xbf16>) {
  fuseops.return none
}

fuseops.fusible @swiglu_drawn(%arg0: tensor<?x28672xbf16>) -> (tensor<?x14336xf8E4M3FN>, tensor<112x?xf32>, tensor<14336x?xf8E4M3FN>, tensor<?x14336xf32, #fuseops.blocks<128>>) attributes {frozen_results = array<i64: 0, 1, 2, 3>}
forward {
  %0:4 = fuseops.group @forward_0 tile schedule {stages = 2 : i64, tickets = 1 : i64, workers = 132 : i64} (%arg1 = %arg0) : (tensor<?x28672xbf16>) -> (tensor<?x14336xf8E4M3FN>, tensor<112x?xf32>, tensor<?x14336xf32, #fuseops.blocks<128>>, tensor<14336x?xf8E4M3FN>) {
    %1 = fuseops.swiglu %arg1 activation(first) : tensor<?x28672xbf16> -> tensor<?x14336xbf16>
    %2 = fuseops.pointwise (%arg2 = %1) : (tensor<?x14336xbf16>) -> tensor<?x14336xf32> {
      %16 = math.absf %arg2 : f32
      fuseops.yield %16 : f32
    }
    %3 = fuseops.reduce_blocks %2 block(1, 128) : tensor<?x14336xf32> -> tensor<?x112xf32>
    %4 = fuseops.pointwise (%arg2 = %3) : (tensor<?x112xf32>) -> tensor<?x112xf32> {
      %cst = arith.constant 1.000000e+00 : f32
      %cst_0 = arith.constant 0x7F800000 : f32
      %cst_1 = arith.constant 4.480000e+02 : f32
      %16 = arith.divf %cst_1, %arg2 : f32
      %cst_2 = arith.constant 3.40282347E+38 : f32
      %17 = arith.cmpf oeq, %16, %cst_0 : f32
      %18 = arith.select %17, %cst_2, %16 : f32
      %19 = arith.bitcast %18 : f32 to i32
      %c-8388608_i32 = arith.constant -8388608 : i32
      %20 = arith.andi %19, %c-8388608_i32 : i32
      %21 = arith.bitcast %20 : i32 to f32
      %cst_3 = arith.constant 0.000000e+00 : f32
      %22 = arith.cmpf ogt, %arg2, %cst_3 : f32
      %23 = arith.cmpf olt, %arg2, %cst_0 : f32
      %24 = arith.andi %22, %23 : i1
      %25 = arith.select %24, %21, %cst : f32
      fuseops.yield %25 : f32
    }
    %5 = fuseops.pointwise (%arg2 = %4) : (tensor<?x112xf32>) -> tensor<?x112xf32> {
      %cst = arith.constant 1.000000e+00 : f32
      %16 = arith.divf %cst, %arg2 : f32
      fuseops.yield %16 : f32
    }
    %6 = fuseops.expand_blocks %4 block(1, 128) : tensor<?x112xf32> -> tensor<?x14336xf32>
    %7 = fuseops.pointwise (%arg2 = %1, %arg3 = %6) : (tensor<?x14336xbf16>, tensor<?x14336xf32>) -> tensor<?x14336xf8E4M3FN> {
      %16 = arith.mulf %arg2, %arg3 : f32
      %cst = arith.constant -4.480000e+02 : f32
      %17 = arith.maximumf %16, %cst : f32
      %cst_0 = arith.constant 4.480000e+02 : f32
      %18 = arith.minimumf %17, %cst_0 : f32
      fuseops.yield %18 : f32
    }
    %8 = fuseops.permute %5 order[1, 0] : tensor<?x112xf32> -> tensor<112x?xf32>
    %9 = fuseops.pointwise (%arg2 = %1) : (tensor<?x14336xbf16>) -> tensor<?x14336xf32> {
      %16 = math.absf %arg2 : f32
      fuseops.yield %16 : f32
    }
    %10 = fuseops.reduce_blocks %9 block(128, 1) : tensor<?x14336xf32> -> tensor<?x14336xf32, #fuseops.blocks<128>>
    %11 = fuseops.pointwise (%arg2 = %10) : (tensor<?x14336xf32, #fuseops.blocks<128>>) -> tensor<?x14336xf32, #fuseops.blocks<128>> {
      %cst = arith.constant 1.000000e+00 : f32
      %cst_0 = arith.constant 0x7F800000 : f32
      %cst_1 = arith.constant 4.480000e+02 : f32
      %16 = arith.divf %cst_1, %arg2 : f32
      %cst_2 = arith.constant 3.40282347E+38 : f32
      %17 = arith.cmpf oeq, %16, %cst_0 : f32
      %18 = arith.select %17, %cst_2, %16 : f32
      %19 = arith.bitcast %18 : f32 to i32
      %c-8388608_i32 = arith.constant -8388608 : i32
      %20 = arith.andi %19, %c-8388608_i32 : i32
      %21 = arith.bitcast %20 : i32 to f32
      %cst_3 = arith.constant 0.000000e+00 : f32
      %22 = arith.cmpf ogt, %arg2, %cst_3 : f32
      %23 = arith.cmpf olt, %arg2, %cst_0 : f32
      %24 = arith.andi %22, %23 : i1
      %25 = arith.select %24, %21, %cst : f32
      fuseops.yield %25 : f32
    }
    %12 = fuseops.pointwise (%arg2 = %11) : (tensor<?x14336xf32, #fuseops.blocks<128>>) -> tensor<?x14336xf32, #fuseops.blocks<128>> {
      %cst = arith.constant 1.000000e+00 : f32
      %16 = arith.divf %cst, %arg2 : f32
      fuseops.yield %16 : f32
    }
    %13 = fuseops.expand_blocks %11 block(128, 1) : tensor<?x14336xf32, #fuseops.blocks<128>> -> tensor<?x14336xf32>
    %14 = fuseops.pointwise (%arg2 = %1, %arg3 = %13) : (tensor<?x14336xbf16>, tensor<?x14336xf32>) -> tensor<?x14336xf8E4M3FN> {
      %16 = arith.mulf %arg2, %arg3 : f32
      %cst = arith.constant -4.480000e+02 : f32
      %17 = arith.maximumf %16, %cst : f32
      %cst_0 = arith.constant 4.480000e+02 : f32
      %18 = arith.minimumf %17, %cst_0 : f32
      fuseops.yield %18 : f32
    }
    %15 = fuseops.permute %14 order[1, 0] : tensor<?x14336xf8E4M3FN> -> tensor<14336x?xf8E4M3FN>
    fuseops.yield %7, %8, %12, %15 : tensor<?x14336xf8E4M3FN>, tensor<112x?xf32>, tensor<?x14336xf32, #fuseops.blocks<128>>, tensor<14336x?xf8E4M3FN>
  }
  fuseops.return %0#0, %0#1, %0#3, %0#2 save(%arg0) : tensor<?x14336xf8E4M3FN>, tensor<112x?xf32>, tensor<14336x?xf8E4M3FN>, tensor<?x14336xf32, #fuseops.blocks<128>>, tensor<?x28672xbf16>
}
backward (saved %arg0: tensor<?x28672xbf16>) {
  fuseops.return none
}

fuseops.fusible @quantize(%arg0: tensor<?x4096xbf16>) -> (tensor<?x4096xf8E4M3FN>, tensor<32x?xf32>, tensor<4096x?xf8E4M3FN>, tensor<?x4096xf32, #fuseops.blocks<128>>) attributes {frozen_results = array<i64: 0, 1, 2, 3>}
forward {
  %0:4 = fuseops.group @forward_0 tile schedule {stages = 2 : i64, residents = 2 : i64, tickets = 1 : i64, workers = 264 : i64} (%arg1 = %arg0) : (tensor<?x4096xbf16>) -> (tensor<?x4096xf8E4M3FN>, tensor<32x?xf32>, tensor<?x4096xf32, #fuseops.blocks<128>>, tensor<4096x?xf8E4M3FN>) {
    %1 = fuseops.pointwise (%arg2 = %arg1) : (tensor<?x4096xbf16>) -> tensor<?x4096xf32> {
      %15 = math.absf %arg2 : f32
      fuseops.yield %15 : f32
    }
    %2 = fuseops.reduce_blocks %1 block(1, 128) : tensor<?x4096xf32> -> tensor<?x32xf32>
    %3 = fuseops.pointwise (%arg2 = %2) : (tensor<?x32xf32>) -> tensor<?x32xf32> {
      %cst = arith.constant 1.000000e+00 : f32
      %cst_0 = arith.constant 0x7F800000 : f32
      %cst_1 = arith.constant 4.480000e+02 : f32
      %15 = arith.divf %cst_1, %arg2 : f32
      %cst_2 = arith.constant 3.40282347E+38 : f32
      %16 = arith.cmpf oeq, %15, %cst_0 : f32
      %17 = arith.select %16, %cst_2, %15 : f32
      %18 = arith.bitcast %17 : f32 to i32
      %c-8388608_i32 = arith.constant -8388608 : i32
      %19 = arith.andi %18, %c-8388608_i32 : i32
      %20 = arith.bitcast %19 : i32 to f32
      %cst_3 = arith.constant 0.000000e+00 : f32
      %21 = arith.cmpf ogt, %arg2, %cst_3 : f32
      %22 = arith.cmpf olt, %arg2, %cst_0 : f32
      %23 = arith.andi %21, %22 : i1
      %24 = arith.select %23, %20, %cst : f32
      fuseops.yield %24 : f32
    }
    %4 = fuseops.pointwise (%arg2 = %3) : (tensor<?x32xf32>) -> tensor<?x32xf32> {
      %cst = arith.constant 1.000000e+00 : f32
      %15 = arith.divf %cst, %arg2 : f32
      fuseops.yield %15 : f32
    }
    %5 = fuseops.expand_blocks %3 block(1, 128) : tensor<?x32xf32> -> tensor<?x4096xf32>
    %6 = fuseops.pointwise (%arg2 = %arg1, %arg3 = %5) : (tensor<?x4096xbf16>, tensor<?x4096xf32>) -> tensor<?x4096xf8E4M3FN> {
      %15 = arith.mulf %arg2, %arg3 : f32
      %cst = arith.constant -4.480000e+02 : f32
      %16 = arith.maximumf %15, %cst : f32
      %cst_0 = arith.constant 4.480000e+02 : f32
      %17 = arith.minimumf %16, %cst_0 : f32
      fuseops.yield %17 : f32
    }
    %7 = fuseops.permute %4 order[1, 0] : tensor<?x32xf32> -> tensor<32x?xf32>
    %8 = fuseops.pointwise (%arg2 = %arg1) : (tensor<?x4096xbf16>) -> tensor<?x4096xf32> {
      %15 = math.absf %arg2 : f32
      fuseops.yield %15 : f32
    }
    %9 = fuseops.reduce_blocks %8 block(128, 1) : tensor<?x4096xf32> -> tensor<?x4096xf32, #fuseops.blocks<128>>
    %10 = fuseops.pointwise (%arg2 = %9) : (tensor<?x4096xf32, #fuseops.blocks<128>>) -> tensor<?x4096xf32, #fuseops.blocks<128>> {
      %cst = arith.constant 1.000000e+00 : f32
      %cst_0 = arith.constant 0x7F800000 : f32
      %cst_1 = arith.constant 4.480000e+02 : f32
      %15 = arith.divf %cst_1, %arg2 : f32
      %cst_2 = arith.constant 3.40282347E+38 : f32
      %16 = arith.cmpf oeq, %15, %cst_0 : f32
      %17 = arith.select %16, %cst_2, %15 : f32
      %18 = arith.bitcast %17 : f32 to i32
      %c-8388608_i32 = arith.constant -8388608 : i32
      %19 = arith.andi %18, %c-8388608_i32 : i32
      %20 = arith.bitcast %19 : i32 to f32
      %cst_3 = arith.constant 0.000000e+00 : f32
      %21 = arith.cmpf ogt, %arg2, %cst_3 : f32
      %22 = arith.cmpf olt, %arg2, %cst_0 : f32
      %23 = arith.andi %21, %22 : i1
      %24 = arith.select %23, %20, %cst : f32
      fuseops.yield %24 : f32
    }
    %11 = fuseops.pointwise (%arg2 = %10) : (tensor<?x4096xf32, #fuseops.blocks<128>>) -> tensor<?x4096xf32, #fuseops.blocks<128>> {
      %cst = arith.constant 1.000000e+00 : f32
      %15 = arith.divf %cst, %arg2 : f32
      fuseops.yield %15 : f32
    }
    %12 = fuseops.expand_blocks %10 block(128, 1) : tensor<?x4096xf32, #fuseops.blocks<128>> -> tensor<?x4096xf32>
    %13 = fuseops.pointwise (%arg2 = %arg1, %arg3 = %12) : (tensor<?x4096xbf16>, tensor<?x4096xf32>) -> tensor<?x4096xf8E4M3FN> {
      %15 = arith.mulf %arg2, %arg3 : f32
      %cst = arith.constant -4.480000e+02 : f32
      %16 = arith.maximumf %15, %cst : f32
      %cst_0 = arith.constant 4.480000e+02 : f32
      %17 = arith.minimumf %16, %cst_0 : f32
      fuseops.yield %17 : f32
    }
    %14 = fuseops.permute %13 order[1, 0] : tensor<?x4096xf8E4M3FN> -> tensor<4096x?xf8E4M3FN>
    fuseops.yield %6, %7, %11, %14 : tensor<?x4096xf8E4M3FN>, tensor<32x?xf32>, tensor<?x4096xf32, #fuseops.blocks<128>>, tensor<4096x?xf8E4M3FN>
  }
  fuseops.return %0#0, %0#1, %0#3, %0#2 save(%arg0) : tensor<?x4096xf8E4M3FN>, tensor<32x?xf32>, tensor<4096x?xf8E4M3FN>, tensor<?x4096xf32, #fuseops.blocks<128>>, tensor<?x4096xbf16>
}
backward (saved %arg0: tensor<?x4096xbf16>) {
  fuseops.return none
}

fuseops.fusible @dgelu_dbias(%arg0: tensor<?x14336xbf16>, %arg1: tensor<?x14336xbf16>) -> (tensor<?x14336xf8E4M3FN>, tensor<112x?xf32>, tensor<14336x?xf8E4M3FN>, tensor<?x14336xf32, #fuseops.blocks<128>>, tensor<14336xbf16>) attributes {frozen_results = array<i64: 0, 1, 2, 3, 4>}
forward {
  %0:5 = fuseops.group @forward_0 tile schedule {stages = 1 : i64, residents = 2 : i64, tickets = 1 : i64, tile_partials = 1 : i64, workers = 264 : i64} (%arg2 = %arg0, %arg3 = %arg1) : (tensor<?x14336xbf16>, tensor<?x14336xbf16>) -> (tensor<14336xbf16>, tensor<?x14336xf8E4M3FN>, tensor<112x?xf32>, tensor<?x14336xf32, #fuseops.blocks<128>>, tensor<14336x?xf8E4M3FN>) {
    %1 = fuseops.gelu_grad %arg2, %arg3 approximate(tanh) : tensor<?x14336xbf16>
    %2 = fuseops.reduce_rows sum %1 : tensor<?x14336xbf16> -> tensor<14336xbf16>
    %3 = fuseops.pointwise (%arg4 = %1) : (tensor<?x14336xbf16>) -> tensor<?x14336xf32> {
      %17 = math.absf %arg4 : f32
      fuseops.yield %17 : f32
    }
    %4 = fuseops.reduce_blocks %3 block(1, 128) : tensor<?x14336xf32> -> tensor<?x112xf32>
    %5 = fuseops.pointwise (%arg4 = %4) : (tensor<?x112xf32>) -> tensor<?x112xf32> {
      %cst = arith.constant 1.000000e+00 : f32
      %cst_0 = arith.constant 0x7F800000 : f32
      %cst_1 = arith.constant 4.480000e+02 : f32
      %17 = arith.divf %cst_1, %arg4 : f32
      %cst_2 = arith.constant 3.40282347E+38 : f32
      %18 = arith.cmpf oeq, %17, %cst_0 : f32
      %19 = arith.select %18, %cst_2, %17 : f32
      %20 = arith.bitcast %19 : f32 to i32
      %c-8388608_i32 = arith.constant -8388608 : i32
      %21 = arith.andi %20, %c-8388608_i32 : i32
      %22 = arith.bitcast %21 : i32 to f32
      %cst_3 = arith.constant 0.000000e+00 : f32
      %23 = arith.cmpf ogt, %arg4, %cst_3 : f32
      %24 = arith.cmpf olt, %arg4, %cst_0 : f32
      %25 = arith.andi %23, %24 : i1
      %26 = arith.select %25, %22, %cst : f32
      fuseops.yield %26 : f32
    }
    %6 = fuseops.pointwise (%arg4 = %5) : (tensor<?x112xf32>) -> tensor<?x112xf32> {
      %cst = arith.constant 1.000000e+00 : f32
      %17 = arith.divf %cst, %arg4 : f32
      fuseops.yield %17 : f32
    }
    %7 = fuseops.expand_blocks %5 block(1, 128) : tensor<?x112xf32> -> tensor<?x14336xf32>
    %8 = fuseops.pointwise (%arg4 = %1, %arg5 = %7) : (tensor<?x14336xbf16>, tensor<?x14336xf32>) -> tensor<?x14336xf8E4M3FN> {
      %17 = arith.mulf %arg4, %arg5 : f32
      %cst = arith.constant -4.480000e+02 : f32
      %18 = arith.maximumf %17, %cst : f32
      %cst_0 = arith.constant 4.480000e+02 : f32
      %19 = arith.minimumf %18, %cst_0 : f32
      fuseops.yield %19 : f32
    }
    %9 = fuseops.permute %6 order[1, 0] : tensor<?x112xf32> -> tensor<112x?xf32>
    %10 = fuseops.pointwise (%arg4 = %1) : (tensor<?x14336xbf16>) -> tensor<?x14336xf32> {
      %17 = math.absf %arg4 : f32
      fuseops.yield %17 : f32
    }
    %11 = fuseops.reduce_blocks %10 block(128, 1) : tensor<?x14336xf32> -> tensor<?x14336xf32, #fuseops.blocks<128>>
    %12 = fuseops.pointwise (%arg4 = %11) : (tensor<?x14336xf32, #fuseops.blocks<128>>) -> tensor<?x14336xf32, #fuseops.blocks<128>> {
      %cst = arith.constant 1.000000e+00 : f32
      %cst_0 = arith.constant 0x7F800000 : f32
      %cst_1 = arith.constant 4.480000e+02 : f32
      %17 = arith.divf %cst_1, %arg4 : f32
      %cst_2 = arith.constant 3.40282347E+38 : f32
      %18 = arith.cmpf oeq, %17, %cst_0 : f32
      %19 = arith.select %18, %cst_2, %17 : f32
      %20 = arith.bitcast %19 : f32 to i32
      %c-8388608_i32 = arith.constant -8388608 : i32
      %21 = arith.andi %20, %c-8388608_i32 : i32
      %22 = arith.bitcast %21 : i32 to f32
      %cst_3 = arith.constant 0.000000e+00 : f32
      %23 = arith.cmpf ogt, %arg4, %cst_3 : f32
      %24 = arith.cmpf olt, %arg4, %cst_0 : f32
      %25 = arith.andi %23, %24 : i1
      %26 = arith.select %25, %22, %cst : f32
      fuseops.yield %26 : f32
    }
    %13 = fuseops.pointwise (%arg4 = %12) : (tensor<?x14336xf32, #fuseops.blocks<128>>) -> tensor<?x14336xf32, #fuseops.blocks<128>> {
      %cst = arith.constant 1.000000e+00 : f32
      %17 = arith.divf %cst, %arg4 : f32
      fuseops.yield %17 : f32
    }
    %14 = fuseops.expand_blocks %12 block(128, 1) : tensor<?x14336xf32, #fuseops.blocks<128>> -> tensor<?x14336xf32>
    %15 = fuseops.pointwise (%arg4 = %1, %arg5 = %14) : (tensor<?x14336xbf16>, tensor<?x14336xf32>) -> tensor<?x14336xf8E4M3FN> {
      %17 = arith.mulf %arg4, %arg5 : f32
      %cst = arith.constant -4.480000e+02 : f32
      %18 = arith.maximumf %17, %cst : f32
      %cst_0 = arith.constant 4.480000e+02 : f32
      %19 = arith.minimumf %18, %cst_0 : f32
      fuseops.yield %19 : f32
    }
    %16 = fuseops.permute %15 order[1, 0] : tensor<?x14336xf8E4M3FN> -> tensor<14336x?xf8E4M3FN>
    fuseops.yield %2, %8, %9, %13, %16 : tensor<14336xbf16>, tensor<?x14336xf8E4M3FN>, tensor<112x?xf32>, tensor<?x14336xf32, #fuseops.blocks<128>>, tensor<14336x?xf8E4M3FN>
  }
  fuseops.return %0#1, %0#2, %0#4, %0#3, %0#0 save(%arg0) : tensor<?x14336xf8E4M3FN>, tensor<112x?xf32>, tensor<14336x?xf8E4M3FN>, tensor<?x14336xf32, #fuseops.blocks<128>>, tensor<14336xbf16>, tensor<?x14336xbf16>
}
backward (saved %arg0: tensor<?x14336xbf16>) {
  fuseops.return none, none
}
