// What groups without a schedule get on a Hopper chip, and that a schedule which
// is written down isn't mixed with it.
// RUN: fuse-opt %s --convert-fuseops-to-kernels='target=cuda chip=sm_90a' --split-input-file | FileCheck %s
// RUN: fuse-opt %s --convert-fuseops-to-kernels='target=cuda chip=sm_80' --split-input-file | FileCheck %s --check-prefix=OLD

// Three blocks of 256 threads a processor, a tile each, fetched asynchronously:
// memory that the launch gives.
// CHECK: fuseops.launch @kernels::@copy{{.*}}max_workers = 1048576 : i64{{.*}}threads_x = 256 : i64
// CHECK: llvm.mlir.global external @copy_ring
// CHECK: func.func @copy({{.*}}fuseops.residents = 3
// OLD: fuseops.launch @kernels::@copy{{.*}}threads_x = 512 : i64
// OLD-NOT: @copy_ring
fuseops.fusible @f(%x: tensor<?x1024xbf16>) -> tensor<1024x?xbf16>
forward {
  %y = fuseops.group @copy tile (%a = %x) : (tensor<?x1024xbf16>) -> tensor<1024x?xbf16> {
    %t = fuseops.permute %a order[1, 0] : tensor<?x1024xbf16> -> tensor<1024x?xbf16>
    fuseops.yield %t : tensor<1024x?xbf16>
  }
  fuseops.return %y : tensor<1024x?xbf16>
}

// -----

// CHECK: fuseops.launch @kernels::@written{{.*}}threads_x = 128 : i64
// CHECK-NOT: @written_ring
// CHECK-NOT: fuseops.residents
fuseops.fusible @f(%x: tensor<?x1024xbf16>) -> tensor<1024x?xbf16>
forward {
  %y = fuseops.group @written tile schedule {threads = 128 : i64} (%a = %x) : (tensor<?x1024xbf16>) -> tensor<1024x?xbf16> {
    %t = fuseops.permute %a order[1, 0] : tensor<?x1024xbf16> -> tensor<1024x?xbf16>
    fuseops.yield %t : tensor<1024x?xbf16>
  }
  fuseops.return %y : tensor<1024x?xbf16>
}

// -----

// Blocks that keep a sum of columns stay, and read two rows ahead.
// CHECK: fuseops.launch @kernels::@sums{{.*}}max_workers = 132 : i64{{.*}}threads_x = 512 : i64
// CHECK: llvm.mlir.global external @sums_ring
fuseops.fusible @f(%x: tensor<?x4096xbf16>) -> (tensor<?x4096xbf16>, tensor<4096xbf16>)
forward {
  %y:2 = fuseops.group @sums row_column (%a = %x) : (tensor<?x4096xbf16>) -> (tensor<?x4096xbf16>, tensor<4096xbf16>) {
    %c = fuseops.reduce_columns sum %a : tensor<?x4096xbf16> -> tensor<?x1xf32>
    %p = fuseops.pointwise (%v = %a, %s = %c) : (tensor<?x4096xbf16>, tensor<?x1xf32>) -> tensor<?x4096xbf16> {
      %q = arith.mulf %v, %s : f32
      fuseops.yield %q : f32
    }
    %r = fuseops.reduce_rows sum %p : tensor<?x4096xbf16> -> tensor<4096xbf16>
    fuseops.yield %p, %r : tensor<?x4096xbf16>, tensor<4096xbf16>
  }
  fuseops.return %y#0, %y#1 : tensor<?x4096xbf16>, tensor<4096xbf16>
}

// -----

// Two sums of a row of 8192 columns, of which each thread of two warps holds 128;
// one sum leaves it to four.
// CHECK: fuseops.launch @kernels::@norm({{.*}}threads_x = 64 : i64
// CHECK: fuseops.launch @kernels::@one_sum({{.*}}threads_x = 128 : i64
// OLD: fuseops.launch @kernels::@norm({{.*}}threads_x = 128 : i64
fuseops.fusible @f(%x: tensor<?x8192xbf16>) -> (tensor<?x8192xbf16>, tensor<?x8192xbf16>)
forward {
  %y = fuseops.group @norm row (%a = %x) : (tensor<?x8192xbf16>) -> tensor<?x8192xbf16> {
    %n, %m, %r = fuseops.layer_norm %a eps(1.0e-5) : (tensor<?x8192xbf16>) -> (tensor<?x8192xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
    fuseops.yield %n : tensor<?x8192xbf16>
  }
  %z = fuseops.group @one_sum row (%a = %x) : (tensor<?x8192xbf16>) -> tensor<?x8192xbf16> {
    %n, %r = fuseops.rms_norm %a eps(1.0e-5) : (tensor<?x8192xbf16>) -> (tensor<?x8192xbf16>, tensor<?x1xf32>)
    fuseops.yield %n : tensor<?x8192xbf16>
  }
  fuseops.return %y, %z : tensor<?x8192xbf16>, tensor<?x8192xbf16>
}
