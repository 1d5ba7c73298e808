// RUN: fuse-opt %s | fuse-opt | FileCheck %s
// RUN: fuse-opt %s --mlir-print-op-generic | fuse-opt | FileCheck %s

// The last factors of a size may be left out.
// CHECK-LABEL: fuseops.fusible @f(
// CHECK: maps = [#fuseops.tensor_map<tensor = 0, columns = [4096], rows = [0, 1], pitch = [4096], box_columns = 64, box_rows = 128, swizzle = 128>,
// CHECK-SAME: #fuseops.tensor_map<tensor = 1, columns = [256], rows = [512], pitch = [256], box_columns = 128, box_rows = 256, swizzle = 128, batch = [8, 0, 0, 1], batch_pitch = 131072>,
// CHECK-SAME: #fuseops.tensor_map<tensor = 2, columns = [0], rows = [0, 0, 3], pitch = [8], box_columns = 256, box_rows = 1, swizzle = 0>,
// CHECK-SAME: #fuseops.tensor_map<tensor = 0, columns = [0, 1], rows = [4096], pitch = [0, 0, 32], box_columns = 64, box_rows = 128, swizzle = 128>], max_workers
fuseops.fusible @f(%x: tensor<?x4096xbf16>, %w: tensor<8x512x256xf8E4M3FN>) -> tensor<?x8xf32>
forward {
  %y = fuseops.launch @kernels::@forward_0(%x, %w) {
    bytes = array<i64: 0>, kernel_template = #fuseops<kernel_template pointwise>,
    maps = [#fuseops.tensor_map<tensor = 0, columns = [4096], rows = [0, 1], pitch = [4096], box_columns = 64, box_rows = 128, swizzle = 128>,
            #fuseops.tensor_map<tensor = 1, columns = [256], rows = [512], pitch = [256], box_columns = 128, box_rows = 256, swizzle = 128, batch = [8, 0, 0, 1], batch_pitch = 131072>,
            #fuseops.tensor_map<tensor = 2, columns = [0], rows = [0, 0, 3], pitch = [8], box_columns = 256, box_rows = 1, swizzle = 0>,
            #fuseops.tensor_map<tensor = 0, columns = [0, 1], rows = [4096], pitch = [0, 0, 32], box_columns = 64, box_rows = 128, swizzle = 128>],
    max_workers = 64 : i64, members = [], rows = array<i64: 0, 1>, rows_per_worker = 8 : i64, unfused_bytes = array<i64: 0>}
    : (tensor<?x4096xbf16>, tensor<8x512x256xf8E4M3FN>) -> tensor<?x8xf32>
  fuseops.return %y : tensor<?x8xf32>
}
