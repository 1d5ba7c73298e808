// Grouped products as kernels of template `gemm`: the sizes are read on the device,
// and neither the workers nor the maps depend on them.
// RUN: fuse-opt %s --convert-fuseops-to-kernels="target=cuda chip=sm_90a" | FileCheck %s

// The matrices of all groups are one, of 3 * 256 rows.
// CHECK-LABEL: fuseops.fusible @by_group
// CHECK: fuseops.launch @kernels::@by_group(
// CHECK-SAME: flops = array<i64: 0, 65536>
// CHECK-SAME: kernel_template = #fuseops<kernel_template gemm>
// CHECK-SAME: maps = [#fuseops.tensor_map<tensor = 0, columns = [128, 0], rows = [0, 1], pitch = [128, 0], box_columns = 64, box_rows = 128, swizzle = 128>,
// CHECK-SAME: #fuseops.tensor_map<tensor = 1, columns = [128, 0], rows = [768, 0], pitch = [128, 0], box_columns = 64, box_rows = 128, swizzle = 128>,
// CHECK-SAME: #fuseops.tensor_map<tensor = 3, columns = [256, 0], rows = [0, 1], pitch = [256, 0], box_columns = 64, box_rows = 16, swizzle = 128>]
// CHECK-SAME: max_workers = 132
// CHECK-SAME: rows = array<i64: 0, 2>
fuseops.fusible @by_group(%x: tensor<?x128xbf16>, %w: tensor<3x256x128xbf16>, %n: tensor<3xi64>) -> tensor<?x256xbf16>
forward {
  %y = fuseops.group @by_group gemm (%a = %x, %b = %w, %c = %n) : (tensor<?x128xbf16>, tensor<3x256x128xbf16>, tensor<3xi64>) -> tensor<?x256xbf16> {
    %r = fuseops.grouped_matmul %a, %b sizes(%c) transpose_rhs : tensor<?x128xbf16>, tensor<3x256x128xbf16>, tensor<3xi64> -> tensor<?x256xbf16>
    %g = fuseops.relu %r : tensor<?x256xbf16>
    fuseops.yield %g : tensor<?x256xbf16>
  }
  fuseops.return %y : tensor<?x256xbf16>
}

// So are the results. `count` is the number of rows that are contracted.
// CHECK-LABEL: fuseops.fusible @over_rows
// CHECK: fuseops.launch @kernels::@over_rows(
// CHECK-SAME: count_max_workers = 2147483647 : i64, count_rows = array<i64: 0, 1>
// CHECK-SAME: maps = [#fuseops.tensor_map<tensor = 0, columns = [256, 0], rows = [0, 1], pitch = [256, 0], box_columns = 64, box_rows = 64, swizzle = 128>,
// CHECK-SAME: #fuseops.tensor_map<tensor = 1, columns = [128, 0], rows = [0, 1], pitch = [128, 0], box_columns = 64, box_rows = 64, swizzle = 128>,
// CHECK-SAME: #fuseops.tensor_map<tensor = 3, columns = [128, 0], rows = [768, 0], pitch = [128, 0], box_columns = 64, box_rows = 16, swizzle = 128>]
// CHECK-SAME: rows = array<i64: 768, 0>
fuseops.fusible @over_rows(%x: tensor<?x256xbf16>, %y: tensor<?x128xbf16>, %n: tensor<3xi64>) -> tensor<3x256x128xbf16>
forward {
  %w = fuseops.group @over_rows gemm (%a = %x, %b = %y, %c = %n) : (tensor<?x256xbf16>, tensor<?x128xbf16>, tensor<3xi64>) -> tensor<3x256x128xbf16> {
    %r = fuseops.grouped_matmul %a, %b sizes(%c) transpose_lhs : tensor<?x256xbf16>, tensor<?x128xbf16>, tensor<3xi64> -> tensor<3x256x128xbf16>
    fuseops.yield %r : tensor<3x256x128xbf16>
  }
  fuseops.return %w : tensor<3x256x128xbf16>
}

// One warp adds the sizes up, none below 0 and no more than there are rows.
// CHECK-LABEL: func.func @by_group(
// CHECK: llvm.load %{{.+}} {alignment = 8 : i64} : !llvm.ptr -> i64
// CHECK-NEXT: %[[ZERO:.+]] = arith.constant 0 : i64
// CHECK-NEXT: %[[SIZE:.+]] = arith.maxsi %{{.+}}, %[[ZERO]] : i64
// CHECK-NEXT: arith.minsi %[[SIZE]], %{{.+}} : i64
// CHECK: arith.minui
// CHECK: nvvm.barrier0
// A box that is all of one group is the copy engine's, another the warp's.
// CHECK: fence.proxy.async
// CHECK: scf.if
// CHECK-NEXT: scf.if
// CHECK: cp.async.bulk.tensor.2d.global.shared::cta
// CHECK: cp.async.bulk.commit_group
// CHECK: scf.if
// CHECK: scf.for
// CHECK: llvm.store
