// What row kernels do on the CPU alone.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cpu --canonicalize --cse --split-input-file | FileCheck %s
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cuda --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=CUDA

// Vectors of bf16 hold first ones of pairs, then second ones. The last pass asks
// for the next row, one cache line at a time.
// CHECK-LABEL: func.func @norm(
// CHECK:         %[[ONE:.+]] = arith.constant 1 : i64
// CHECK:         scf.for %[[ROW:.+]] = %{{.+}} to
// CHECK:         scf.for
// CHECK:         %[[X:.+]] = llvm.load %{{.+}} : !llvm.ptr -> vector<32xbf16>
// CHECK-NEXT:    %[[PAIRS:.+]] = vector.shuffle %[[X]], %[[X]] [0, 2, 4, {{.+}}, 30, 1, 3, {{.+}}, 31] : vector<32xbf16>
// CHECK-NEXT:    arith.extf %[[PAIRS]] : vector<32xbf16> to vector<32xf32>
// CHECK-NOT:     prefetch
// CHECK:         scf.for
// CHECK:         %[[Y:.+]] = arith.truncf %{{.+}} : vector<32xf32> to vector<32xbf16>
// CHECK:         %[[MEMORY:.+]] = vector.shuffle %[[Y]], %[[Y]] [0, 16, 1, 17, {{.+}}, 15, 31] : vector<32xbf16>
// CHECK:         llvm.store %[[MEMORY]], %{{.+}} : vector<32xbf16>, !llvm.ptr
// CHECK:         arith.addi %[[ROW]], %[[ONE]] : i64
// CHECK:         "llvm.intr.prefetch"(%{{.+}}) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> : (!llvm.ptr) -> ()
// CHECK-NOT:     prefetch
// CHECK:         return
// CUDA-LABEL:  func.func @norm(
// CUDA-NOT:    {{prefetch|shuffle}}
// CUDA:        return
fuseops.fusible @norm(%x: tensor<?x64xbf16>, %g: tensor<64xbf16>) -> tensor<?x64xbf16>
forward {
  %y = fuseops.group @norm row schedule {rows = 1 : i64, threads = 8 : i64} (%a = %x, %b = %g) : (tensor<?x64xbf16>, tensor<64xbf16>) -> tensor<?x64xbf16> {
    %r, %s = fuseops.rms_norm %a gamma(%b) eps(0.5) : (tensor<?x64xbf16>, tensor<64xbf16>) -> (tensor<?x64xbf16>, tensor<?x1xf32>)
    fuseops.yield %r : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}

// -----

// Most vectors are no pairs: they stay in the order of memory, and so does the
// one that is. A row of 1 MiB is out of the cache before it is used.
// CHECK-LABEL: func.func @wide(
// CHECK-NOT:     {{prefetch|vector.shuffle}}
// CHECK:         return
fuseops.fusible @wide(%x: tensor<?x262144xf32>, %z: tensor<?x262144xbf16>) -> tensor<?x262144xf32>
forward {
  %y = fuseops.group @wide row (%a = %x, %c = %z) : (tensor<?x262144xf32>, tensor<?x262144xbf16>) -> tensor<?x262144xf32> {
    %m = fuseops.reduce_columns max %a : tensor<?x262144xf32> -> tensor<?x1xf32>
    %r = fuseops.mul %a, %m : tensor<?x262144xf32>, tensor<?x1xf32> -> tensor<?x262144xf32>
    %s = fuseops.mul %r, %c : tensor<?x262144xf32>, tensor<?x262144xbf16> -> tensor<?x262144xf32>
    fuseops.yield %s : tensor<?x262144xf32>
  }
  fuseops.return %y : tensor<?x262144xf32>
}

// -----

// A row of more than 16 KiB goes to the second cache; its f32 are two lines.
// CHECK-LABEL: func.func @long(
// CHECK-COUNT-2: "llvm.intr.prefetch"(%{{.+}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK-NOT:     prefetch
// CHECK:         return
fuseops.fusible @long(%x: tensor<?x8192xf32>) -> tensor<?x8192xf32>
forward {
  %y = fuseops.group @long row (%a = %x) : (tensor<?x8192xf32>) -> tensor<?x8192xf32> {
    %m = fuseops.reduce_columns max %a : tensor<?x8192xf32> -> tensor<?x1xf32>
    %r = fuseops.mul %a, %m : tensor<?x8192xf32>, tensor<?x1xf32> -> tensor<?x8192xf32>
    fuseops.yield %r : tensor<?x8192xf32>
  }
  fuseops.return %y : tensor<?x8192xf32>
}

// -----

// One counter of Philox for four neighbours: eight of them for 32.
// CHECK-LABEL: func.func @fours(
// CHECK:         arith.shrui %{{.+}}, %{{.+}} : i64
// CHECK-COUNT-18: arith.mului_extended %{{.+}}, %{{.+}} : vector<8xi32>
// CHECK:         vector.shuffle %{{.+}}, %{{.+}} [0, 0, 0, 0, 1, 1, 1, 1, {{.+}}, 7, 7, 7, 7] : vector<8xi32>
// CHECK:         arith.select %{{.+}} : vector<32xi1>, vector<32xf32>
// CHECK-NOT:     vector<32xi32>
// CUDA-LABEL:  func.func @fours(
// CUDA:        arith.mului_extended %{{.+}}, %{{.+}} : i32
fuseops.fusible @fours(%x: tensor<?x64xf32>, %s: tensor<2xi64> {fuseops.random_state}) -> tensor<?x64xf32>
forward {
  %y = fuseops.group @fours pointwise (%a = %x, %b = %s) : (tensor<?x64xf32>, tensor<2xi64>) -> tensor<?x64xf32> {
    %r = fuseops.dropout %a, %b p(0.5) : tensor<?x64xf32>, tensor<2xi64>
    fuseops.yield %r : tensor<?x64xf32>
  }
  fuseops.return %y : tensor<?x64xf32>
}

// -----

// Four neighbours are of two rows: each element has its own counter.
// CHECK-LABEL: func.func @no_fours(
// CHECK:         arith.mului_extended %{{.+}}, %{{.+}} : vector<16xi32>
fuseops.fusible @no_fours(%x: tensor<?x66xf32>, %s: tensor<2xi64> {fuseops.random_state}) -> tensor<?x66xf32>
forward {
  %y = fuseops.group @no_fours pointwise (%a = %x, %b = %s) : (tensor<?x66xf32>, tensor<2xi64>) -> tensor<?x66xf32> {
    %r = fuseops.dropout %a, %b p(0.5) : tensor<?x66xf32>, tensor<2xi64>
    fuseops.yield %r : tensor<?x66xf32>
  }
  fuseops.return %y : tensor<?x66xf32>
}
