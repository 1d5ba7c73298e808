// RUN: fuse-opt %s --convert-fuseops-to-kernels="target=cuda chip=sm_90a" | FileCheck %s

// A product whose operands are K-major, with what is computed of it: one launch.
// Maps of both operands, in boxes of a stage, and of the result, in boxes of a
// warp's store. `rows` is the rows times the tiles along them.
// CHECK-LABEL: fuseops.fusible @epilogue
// CHECK: %[[Y:.+]] = fuseops.launch @kernels::@k(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}})
// CHECK-SAME: flops = array<i64: 0, 196608>
// CHECK-SAME: kernel_template = #fuseops<kernel_template gemm>
// CHECK-SAME: maps = [#fuseops.tensor_map<tensor = 0, columns = [256, 0], rows = [0, 1], pitch = [256, 0], box_columns = 64, box_rows = 128, swizzle = 128>,
// CHECK-SAME: #fuseops.tensor_map<tensor = 1, columns = [256, 0], rows = [384, 0], pitch = [256, 0], box_columns = 64, box_rows = 128, swizzle = 128>,
// CHECK-SAME: #fuseops.tensor_map<tensor = 3, columns = [384, 0], rows = [0, 1], pitch = [384, 0], box_columns = 64, box_rows = 16, swizzle = 128>]
// CHECK-SAME: max_workers = 132
// CHECK-SAME: rows = array<i64: 0, 3>
// CHECK-SAME: threads_x = 384
// CHECK: fuseops.return %[[Y]]
fuseops.fusible @epilogue(%x: tensor<?x256xbf16>, %w: tensor<384x256xbf16>, %b: tensor<384xbf16>) -> tensor<?x384xbf16>
forward {
  %y = fuseops.group @k gemm (%a = %x, %c = %w, %d = %b) : (tensor<?x256xbf16>, tensor<384x256xbf16>, tensor<384xbf16>) -> tensor<?x384xbf16> {
    %z = fuseops.linear %a, %c bias(%d) : (tensor<?x256xbf16>, tensor<384x256xbf16>, tensor<384xbf16>) -> tensor<?x384xbf16>
    %g = fuseops.relu %z : tensor<?x384xbf16>
    fuseops.yield %g : tensor<?x384xbf16>
  }
  fuseops.return %y : tensor<?x384xbf16>
}

// Operands that are not K-major come in boxes of 128 bytes of a row, as many rows
// as a stage has elements. What is contracted is `?`: it comes as `count`.
// CHECK-LABEL: fuseops.fusible @weight_gradient
// CHECK: fuseops.launch
// CHECK-SAME: count_max_workers = 2147483647 : i64, count_rows = array<i64: 0, 1>
// CHECK-SAME: maps = [#fuseops.tensor_map<tensor = 0, columns = [256, 0], rows = [0, 1], pitch = [256, 0], box_columns = 64, box_rows = 64, swizzle = 128>,
// CHECK-SAME: #fuseops.tensor_map<tensor = 1, columns = [384, 0], rows = [0, 1], pitch = [384, 0], box_columns = 64, box_rows = 64, swizzle = 128>,
// CHECK-SAME: #fuseops.tensor_map<tensor = 2, columns = [384, 0], rows = [256, 0], pitch = [384, 0], box_columns = 64, box_rows = 16, swizzle = 128>]
// CHECK-SAME: rows = array<i64: 512, 0>
fuseops.fusible @weight_gradient(%dy: tensor<?x256xbf16>, %x: tensor<?x384xbf16>) -> tensor<256x384xbf16>
forward {
  %y = fuseops.group @k gemm (%a = %dy, %c = %x) : (tensor<?x256xbf16>, tensor<?x384xbf16>) -> tensor<256x384xbf16> {
    %p = fuseops.matmul %a, %c transpose_lhs : tensor<?x256xbf16>, tensor<?x384xbf16> -> tensor<256x384xbf16>
    fuseops.yield %p : tensor<256x384xbf16>
  }
  fuseops.return %y : tensor<256x384xbf16>
}

// In FP8 both operands are transposed copies: the elements that are contracted lie
// side by side, and rows are `?` long.
// CHECK-LABEL: fuseops.fusible @weight_gradient_fp8
// CHECK: fuseops.launch
// CHECK-SAME: count_rows = array<i64: 0, 1>
// CHECK-SAME: maps = [#fuseops.tensor_map<tensor = 0, columns = [0, 1], rows = [256, 0], pitch = [0, 1], box_columns = 128, box_rows = 128, swizzle = 128>,
// CHECK-SAME: #fuseops.tensor_map<tensor = 2, columns = [0, 1], rows = [384, 0], pitch = [0, 1], box_columns = 128, box_rows = 128, swizzle = 128>,
// CHECK-SAME: #fuseops.tensor_map<tensor = 4, columns = [384, 0], rows = [256, 0], pitch = [384, 0], box_columns = 32, box_rows = 16, swizzle = 128>]
fuseops.fusible @weight_gradient_fp8(%dy: tensor<256x?xf8E5M2>, %s: tensor<2x?xf32, #fuseops.blocks<128>>, %x: tensor<384x?xf8E4M3FN>, %t: tensor<?x384xf32, #fuseops.blocks<128>>) -> tensor<256x384xf32>
forward {
  %y = fuseops.group @k gemm (%a = %dy, %as = %s, %c = %x, %cs = %t) : (tensor<256x?xf8E5M2>, tensor<2x?xf32, #fuseops.blocks<128>>, tensor<384x?xf8E4M3FN>, tensor<?x384xf32, #fuseops.blocks<128>>) -> tensor<256x384xf32> {
    %p = fuseops.scaled_matmul %a[%as] block<128x128>, %c[%cs] block<1x128> : (tensor<256x?xf8E5M2>, tensor<2x?xf32, #fuseops.blocks<128>>, tensor<384x?xf8E4M3FN>, tensor<?x384xf32, #fuseops.blocks<128>>) -> tensor<256x384xf32>
    fuseops.yield %p : tensor<256x384xf32>
  }
  fuseops.return %y : tensor<256x384xf32>
}

// Sums over rows are partial results of warps: of tiles where they are of columns,
// of all that a warp visits where they are of the whole matrix.
// CHECK-LABEL: fuseops.fusible @sums
// CHECK: %[[P:.+]]:3 = fuseops.launch @kernels::@sums_k
// CHECK-SAME: -> (tensor<?x384xf8E4M3FN>, tensor<?x4x384xf32, #fuseops.blocks<128>>, tensor<1056x1xf32>)
// CHECK: fuseops.launch @kernels::@sums_k_finalize_0(%[[P]]#1)
// CHECK-SAME: count_max_workers = 2147483647 : i64, count_rows = array<i64: 0, 0, 0, 4>
// CHECK: fuseops.launch @kernels::@sums_k_finalize_1(%[[P]]#2)
// CHECK-SAME: count_max_workers = 1056 : i64, count_rows = array<i64: 0, 24>
fuseops.fusible @sums(%x: tensor<?x256xf8E4M3FN>, %xs: tensor<f32>, %w: tensor<384x256xf8E4M3FN>, %ws: tensor<f32>) -> (tensor<?x384xf8E4M3FN>, tensor<384xbf16>, tensor<f32>)
forward {
  %y:3 = fuseops.group @k gemm (%a = %x, %as = %xs, %c = %w, %cs = %ws) : (tensor<?x256xf8E4M3FN>, tensor<f32>, tensor<384x256xf8E4M3FN>, tensor<f32>) -> (tensor<?x384xf8E4M3FN>, tensor<384xbf16>, tensor<f32>) {
    %p = fuseops.scaled_matmul %a[%as] per_tensor, %c[%cs] per_tensor {fast_accumulate} : (tensor<?x256xf8E4M3FN>, tensor<f32>, tensor<384x256xf8E4M3FN>, tensor<f32>) -> tensor<?x384xbf16>
    %d = fuseops.reduce_rows sum %p : tensor<?x384xbf16> -> tensor<384xbf16>
    %m = fuseops.amax %p : tensor<?x384xbf16> -> tensor<f32>
    %q = fuseops.pointwise (%v = %p) : (tensor<?x384xbf16>) -> tensor<?x384xf8E4M3FN> {
      fuseops.yield %v : f32
    }
    fuseops.yield %q, %d, %m : tensor<?x384xf8E4M3FN>, tensor<384xbf16>, tensor<f32>
  }
  fuseops.return %y#0, %y#1, %y#2 : tensor<?x384xf8E4M3FN>, tensor<384xbf16>, tensor<f32>
}

// Of a sum along a row each of the three tiles has a part: a finalize kernel ends it, 32
// rows in a block, and computes what only needs it.
// CHECK-LABEL: fuseops.fusible @row_sums
// CHECK: %[[P:.+]]:4 = fuseops.launch @kernels::@row_sums_k
// CHECK-SAME: -> (tensor<?x384xbf16>, tensor<?x4x384xf32, #fuseops.blocks<128>>, tensor<3x?x1xf32>, tensor<3x?x1xf32>)
// CHECK: %[[S:.+]]:2 = fuseops.launch @kernels::@row_sums_k_finalize_0(%[[P]]#2, %[[P]]#3, %{{[a-z0-9]+}})
// CHECK-SAME: count_max_workers = 2147483647 : i64, count_rows = array<i64: 3, 0>
// CHECK-SAME: max_workers = 2147483647 : i64
// CHECK-SAME: rows = array<i64: 0, 1>, rows_per_worker = 32 : i64
// CHECK-SAME: threads_x = 32 : i64, threads_y = 16 : i64
// CHECK: %[[D:.+]] = fuseops.launch @kernels::@row_sums_k_finalize_1(%[[P]]#1)
// CHECK: fuseops.return %[[P]]#0, %[[S]]#0, %[[D]], %[[S]]#1
fuseops.fusible @row_sums(%x: tensor<?x256xbf16>, %w: tensor<384x256xbf16>, %by: tensor<?x1xf32>) -> (tensor<?x384xbf16>, tensor<?x1xbf16>, tensor<384xbf16>, tensor<?x1xf32>)
forward {
  %y:4 = fuseops.group @k gemm (%a = %x, %c = %w, %b = %by) : (tensor<?x256xbf16>, tensor<384x256xbf16>, tensor<?x1xf32>) -> (tensor<?x384xbf16>, tensor<?x1xbf16>, tensor<384xbf16>, tensor<?x1xf32>) {
    %p = fuseops.linear %a, %c : (tensor<?x256xbf16>, tensor<384x256xbf16>) -> tensor<?x384xbf16>
    %m = fuseops.reduce_columns max %p : tensor<?x384xbf16> -> tensor<?x1xbf16>
    %d = fuseops.reduce_rows sum %p : tensor<?x384xbf16> -> tensor<384xbf16>
    %s = fuseops.reduce_columns sum %p : tensor<?x384xbf16> -> tensor<?x1xf32>
    %t = fuseops.mul %s, %b : tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x1xf32>
    fuseops.yield %p, %m, %d, %t : tensor<?x384xbf16>, tensor<?x1xbf16>, tensor<384xbf16>, tensor<?x1xf32>
  }
  fuseops.return %y#0, %y#1, %y#2, %y#3 : tensor<?x384xbf16>, tensor<?x1xbf16>, tensor<384xbf16>, tensor<?x1xf32>
}

// Without `fast_accumulate` each stage is added by itself: three warpgroups, and
// no more stages than there are.
// CHECK-LABEL: fuseops.fusible @promoted
// CHECK: fuseops.launch
// CHECK-SAME: box_rows = 192
// CHECK-SAME: shared_bytes = 132128
// CHECK-SAME: threads_x = 512
fuseops.fusible @promoted(%x: tensor<?x256xf8E4M3FN>, %xs: tensor<2x?xf32>, %w: tensor<384x256xf8E4M3FN>, %ws: tensor<3x4xf32>) -> tensor<?x384xbf16>
forward {
  %y = fuseops.group @k gemm (%a = %x, %as = %xs, %c = %w, %cs = %ws) : (tensor<?x256xf8E4M3FN>, tensor<2x?xf32>, tensor<384x256xf8E4M3FN>, tensor<3x4xf32>) -> tensor<?x384xbf16> {
    %p = fuseops.scaled_matmul %a[%as] block<1x128>, %c[%cs] block<128x128> : (tensor<?x256xf8E4M3FN>, tensor<2x?xf32>, tensor<384x256xf8E4M3FN>, tensor<3x4xf32>) -> tensor<?x384xbf16>
    fuseops.yield %p : tensor<?x384xbf16>
  }
  fuseops.return %y : tensor<?x384xbf16>
}

// A GLU reads the halves of the columns: a tile has 64 of each, in boxes of 64 rows of
// the weight. Two of the 132 blocks have a block of 128 columns, and exchange what they
// have of it. The product is stored in parts of rows, the GLU transposed by the threads.
// CHECK-LABEL: fuseops.fusible @halves
// CHECK: fuseops.launch @kernels::@halves_k
// CHECK-SAME: maps = [#fuseops.tensor_map<tensor = 0, columns = [256, 0], rows = [0, 1], pitch = [256, 0], box_columns = 64, box_rows = 128, swizzle = 128>,
// CHECK-SAME: #fuseops.tensor_map<tensor = 1, columns = [256, 0], rows = [768, 0], pitch = [256, 0], box_columns = 64, box_rows = 64, swizzle = 128>,
// CHECK-SAME: #fuseops.tensor_map<tensor = 2, columns = [384, 0], rows = [0, 1], pitch = [768, 0], box_columns = 64, box_rows = 16, swizzle = 128>,
// CHECK-SAME: #fuseops.tensor_map<tensor = 2, columns = [768, 0], rows = [0, 1], pitch = [768, 0], box_columns = 64, box_rows = 16, swizzle = 128>]
// CHECK-SAME: max_workers = 132
// CHECK-SAME: rows = array<i64: 0, 6>
fuseops.fusible @halves(%x: tensor<?x256xbf16>, %w: tensor<768x256xbf16>) -> (tensor<?x768xbf16>, tensor<384x?xf8E4M3FN>, tensor<?x3xf32>)
forward {
  %y:3 = fuseops.group @k gemm (%a = %x, %c = %w) : (tensor<?x256xbf16>, tensor<768x256xbf16>) -> (tensor<?x768xbf16>, tensor<384x?xf8E4M3FN>, tensor<?x3xf32>) {
    %z = fuseops.linear %a, %c : (tensor<?x256xbf16>, tensor<768x256xbf16>) -> tensor<?x768xbf16>
    %g = fuseops.swiglu %z activation(first) : tensor<?x768xbf16> -> tensor<?x384xbf16>
    %f = fuseops.cast %g : tensor<?x384xbf16> -> tensor<?x384xf32>
    %m = fuseops.reduce_blocks %f block(1, 128) : tensor<?x384xf32> -> tensor<?x3xf32>
    %q = fuseops.pointwise (%v = %f) : (tensor<?x384xf32>) -> tensor<?x384xf8E4M3FN> {
      fuseops.yield %v : f32
    }
    %t = fuseops.permute %q order[1, 0] : tensor<?x384xf8E4M3FN> -> tensor<384x?xf8E4M3FN>
    fuseops.yield %z, %t, %m : tensor<?x768xbf16>, tensor<384x?xf8E4M3FN>, tensor<?x3xf32>
  }
  fuseops.return %y#0, %y#1, %y#2 : tensor<?x768xbf16>, tensor<384x?xf8E4M3FN>, tensor<?x3xf32>
}

// What is joined is stored side by side: each map ends where its part does.
// CHECK-LABEL: fuseops.fusible @joined
// CHECK: fuseops.launch @kernels::@joined_k
// CHECK-SAME: #fuseops.tensor_map<tensor = 2, columns = [200, 0], rows = [0, 1], pitch = [400, 0], box_columns = 64, box_rows = 16, swizzle = 128>
// CHECK-SAME: #fuseops.tensor_map<tensor = 2, columns = [400, 0], rows = [0, 1], pitch = [400, 0], box_columns = 64, box_rows = 16, swizzle = 128>
fuseops.fusible @joined(%x: tensor<?x256xbf16>, %w: tensor<200x256xbf16>) -> tensor<?x400xbf16>
forward {
  %y = fuseops.group @k gemm (%a = %x, %c = %w) : (tensor<?x256xbf16>, tensor<200x256xbf16>) -> tensor<?x400xbf16> {
    %z = fuseops.linear %a, %c : (tensor<?x256xbf16>, tensor<200x256xbf16>) -> tensor<?x200xbf16>
    %r = fuseops.relu %z : tensor<?x200xbf16>
    %t = fuseops.concat %z, %r dim(1) : (tensor<?x200xbf16>, tensor<?x200xbf16>) -> tensor<?x400xbf16>
    fuseops.yield %t : tensor<?x400xbf16>
  }
  fuseops.return %y : tensor<?x400xbf16>
}
