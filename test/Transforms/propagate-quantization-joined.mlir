// What is joined is quantized and reduced part by part, with any number of rows.
// RUN: fuse-opt %s --fuseops-propagate-quantization | FileCheck %s

!part = tensor<?x256xbf16>
!whole = tensor<?x512xbf16>
!tensor = !fuseops.quantized<?x512xf8E5M2, scale = per_tensor, copies = row_col>
!block = !fuseops.quantized<?x512xf8E4M3FN, scale = block<1x128>, copies = row_col>
!mx = !fuseops.quantized<?x512xf8E4M3FN, scale = mx<1x32>, copies = row_col>

// The largest magnitude of what is joined is that of the larger neighbour.
// CHECK-LABEL: fuseops.fusible @per_tensor(
// CHECK-SAME: %[[X:.+]]: tensor<?x256xbf16>, %[[S:.+]]: tensor<f32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[A:.+]] = fuseops.relu %[[X]]
// CHECK-NEXT:   %[[B:.+]] = fuseops.silu %[[X]]
// CHECK-NEXT:   %[[QA:.+]] = fuseops.quantize %[[A]] scale(%[[S]])
// CHECK-NEXT:   %[[PA:.+]]:4 = fuseops.unpack_quantized %[[QA]]
// CHECK-NEXT:   %[[QB:.+]] = fuseops.quantize %[[B]] scale(%[[S]])
// CHECK-NEXT:   %[[PB:.+]]:4 = fuseops.unpack_quantized %[[QB]]
// CHECK-NEXT:   %[[ROWS:.+]] = fuseops.concat %[[PA]]#0, %[[PB]]#0 dim(1) : (tensor<?x256xf8E5M2>, tensor<?x256xf8E5M2>) -> tensor<?x512xf8E5M2>
// CHECK-NEXT:   %[[TA:.+]] = fuseops.permute %[[PA]]#2 order[1, 0] : tensor<256x?xf8E5M2> -> tensor<?x256xf8E5M2>
// CHECK-NEXT:   %[[TB:.+]] = fuseops.permute %[[PB]]#2 order[1, 0] : tensor<256x?xf8E5M2> -> tensor<?x256xf8E5M2>
// CHECK-NEXT:   %[[C:.+]] = fuseops.concat %[[TA]], %[[TB]] dim(1) : (tensor<?x256xf8E5M2>, tensor<?x256xf8E5M2>) -> tensor<?x512xf8E5M2>
// CHECK-NEXT:   %[[COLUMNS:.+]] = fuseops.permute %[[C]] order[1, 0] : tensor<?x512xf8E5M2> -> tensor<512x?xf8E5M2>
// CHECK-NEXT:   %[[Q:.+]] = fuseops.pack_quantized %[[ROWS]], %[[PA]]#1, %[[COLUMNS]], %[[PA]]#3
// CHECK-NEXT:   %[[M:.+]] = fuseops.pointwise (%[[P:.+]] = %[[A]], %[[R:.+]] = %[[B]])
// CHECK-NEXT:     %[[MP:.+]] = math.absf %[[P]] : f32
// CHECK-NEXT:     %[[MR:.+]] = math.absf %[[R]] : f32
// CHECK-NEXT:     %[[L:.+]] = arith.maximumf %[[MP]], %[[MR]] : f32
// CHECK-NEXT:     fuseops.yield %[[L]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[AMAX:.+]] = fuseops.amax %[[M]] : tensor<?x256xbf16> -> tensor<f32>
// CHECK-NEXT:   fuseops.return %[[Q]], %[[AMAX]]
fuseops.fusible @per_tensor(%x: !part, %s: tensor<f32>) -> (!tensor, tensor<f32>)
attributes {frozen_results = array<i64: 0, 1>} forward {
  %a = fuseops.relu %x : !part
  %b = fuseops.silu %x : !part
  %c = fuseops.concat %a, %b dim(1) : (!part, !part) -> !whole
  %q = fuseops.quantize %c scale(%s) : (!whole, tensor<f32>) -> !tensor
  %m = fuseops.amax %c : !whole -> tensor<f32>
  fuseops.return %q, %m : !tensor, tensor<f32>
}

// Two quantizes of one value stay one, of each part; scales of 1x128 of the row
// copy lie transposed.
// CHECK-LABEL: fuseops.fusible @block(
// CHECK-COUNT-2: fuseops.quantize {{.*}} -> !fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row_col>
// CHECK-NOT: = fuseops.quantize
// CHECK: fuseops.concat {{.*}} dim(1) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32>
// CHECK-NEXT: fuseops.permute {{.*}} : tensor<?x4xf32> -> tensor<4x?xf32>
// CHECK: fuseops.concat {{.*}} dim(1) : (tensor<?x256xf32, #fuseops.blocks<128>>, tensor<?x256xf32, #fuseops.blocks<128>>) -> tensor<?x512xf32, #fuseops.blocks<128>>
!block_row = !fuseops.quantized<?x512xf8E4M3FN, scale = block<1x128>, copies = row>
!block_col = !fuseops.quantized<?x512xf8E4M3FN, scale = block<1x128>, copies = col>
fuseops.fusible @block(%x: !part) -> (!block_row, !block_col)
attributes {frozen_results = array<i64: 0, 1>} forward {
  %a = fuseops.relu %x : !part
  %b = fuseops.silu %x : !part
  %c = fuseops.concat %a, %b dim(1) : (!part, !part) -> !whole
  %0 = fuseops.quantize %c : (!whole) -> !block_row
  %1 = fuseops.quantize %c : (!whole) -> !block_col
  fuseops.return %0, %1 : !block_row, !block_col
}

// Scales of 1x32 of the transposed copy lie transposed.
// CHECK-LABEL: fuseops.fusible @mx(
// CHECK: fuseops.concat {{.*}} dim(1) : (tensor<?x8xf8E8M0FNU>, tensor<?x8xf8E8M0FNU>) -> tensor<?x16xf8E8M0FNU>
// CHECK: fuseops.concat {{.*}} dim(1) : (tensor<?x256xf8E8M0FNU, #fuseops.blocks<32>>, tensor<?x256xf8E8M0FNU, #fuseops.blocks<32>>) -> tensor<?x512xf8E8M0FNU, #fuseops.blocks<32>>
// CHECK-NEXT: fuseops.permute
fuseops.fusible @mx(%x: !part) -> !mx
attributes {frozen_results = array<i64: 0>} forward {
  %a = fuseops.relu %x : !part
  %b = fuseops.silu %x : !part
  %c = fuseops.concat %a, %b dim(1) : (!part, !part) -> !whole
  %q = fuseops.quantize %c : (!whole) -> !mx
  fuseops.return %q : !mx
}

// Both copies' scales of 128x128 are of the same blocks.
// CHECK-LABEL: fuseops.fusible @square(
// CHECK: fuseops.concat {{.*}} dim(1) : (tensor<?x4xf32, #fuseops.blocks<128>>, tensor<?x4xf32, #fuseops.blocks<128>>) -> tensor<?x8xf32, #fuseops.blocks<128>>
// CHECK: fuseops.concat {{.*}} dim(1) : (tensor<?x4xf32, #fuseops.blocks<128>>, tensor<?x4xf32, #fuseops.blocks<128>>) -> tensor<?x8xf32, #fuseops.blocks<128>>
// CHECK-NEXT: fuseops.permute
!square = !fuseops.quantized<?x1024xf8E4M3FN, scale = block<128x128>, copies = row_col>
fuseops.fusible @square(%x: tensor<?x512xbf16>) -> !square
attributes {frozen_results = array<i64: 0>} forward {
  %a = fuseops.relu %x : tensor<?x512xbf16>
  %b = fuseops.silu %x : tensor<?x512xbf16>
  %c = fuseops.concat %a, %b dim(1) : (tensor<?x512xbf16>, tensor<?x512xbf16>) -> tensor<?x1024xbf16>
  %q = fuseops.quantize %c : (tensor<?x1024xbf16>) -> !square
  fuseops.return %q : !square
}

// Rows that are joined stay columns of the transposed copy.
// CHECK-LABEL: fuseops.fusible @rows(
// CHECK: fuseops.concat {{.*}} dim(0) : (tensor<128x32xf8E4M3FN>, tensor<128x32xf8E4M3FN>) -> tensor<256x32xf8E4M3FN>
// CHECK-NEXT: fuseops.concat {{.*}} dim(1) : (tensor<32x128xf8E4M3FN>, tensor<32x128xf8E4M3FN>) -> tensor<32x256xf8E4M3FN>
// CHECK-NOT: fuseops.permute
!stacked = !fuseops.quantized<256x32xf8E4M3FN, scale = per_tensor, copies = row_col>
fuseops.fusible @rows(%x: tensor<128x32xbf16>, %s: tensor<f32>) -> !stacked
attributes {frozen_results = array<i64: 0>} forward {
  %a = fuseops.relu %x : tensor<128x32xbf16>
  %b = fuseops.silu %x : tensor<128x32xbf16>
  %c = fuseops.concat %a, %b dim(0) : (tensor<128x32xbf16>, tensor<128x32xbf16>) -> tensor<256x32xbf16>
  %q = fuseops.quantize %c scale(%s) : (tensor<256x32xbf16>, tensor<f32>) -> !stacked
  fuseops.return %q : !stacked
}

// Sums of rows, as of a bias' gradient, are those of the parts; what is joined
// may be saved or multiplied besides.
// CHECK-LABEL: fuseops.fusible @sums(
// CHECK: %[[A:.+]] = fuseops.relu
// CHECK: %[[B:.+]] = fuseops.silu
// CHECK: %[[C:.+]] = fuseops.concat %[[A]], %[[B]]
// CHECK: fuseops.quantize %[[A]]
// CHECK: fuseops.quantize %[[B]]
// CHECK: %[[SA:.+]] = fuseops.reduce_rows sum %[[A]] : tensor<?x256xbf16> -> tensor<256xf32>
// CHECK-NEXT: %[[SB:.+]] = fuseops.reduce_rows sum %[[B]] : tensor<?x256xbf16> -> tensor<256xf32>
// CHECK-NEXT: %[[SUMS:.+]] = fuseops.concat %[[SA]], %[[SB]] dim(0) : (tensor<256xf32>, tensor<256xf32>) -> tensor<512xf32>
// CHECK-NEXT: fuseops.return %{{.+}}, %[[SUMS]], %[[C]]
fuseops.fusible @sums(%x: !part) -> (!block, tensor<512xf32>, !whole)
attributes {frozen_results = array<i64: 0, 1, 2>} forward {
  %a = fuseops.relu %x : !part
  %b = fuseops.silu %x : !part
  %c = fuseops.concat %a, %b dim(1) : (!part, !part) -> !whole
  %q = fuseops.quantize %c : (!whole) -> !block
  %m = fuseops.reduce_rows sum %c : !whole -> tensor<512xf32>
  fuseops.return %q, %m, %c : !block, tensor<512xf32>, !whole
}
