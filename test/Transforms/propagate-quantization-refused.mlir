// One function for each reason of fuseops-propagate-quantization, with its remark.
// RUN: fuse-opt %s --fuseops-propagate-quantization | FileCheck %s
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-propagate-quantization --remarks-filter-missed=fuseops-propagate-quantization --verify-diagnostics -o %t

// CHECK-LABEL: fuseops.fusible @reason_1_argument(
// CHECK: fuseops.quantize %{{.*}} : (tensor<?x32xbf16>)
fuseops.fusible @reason_1_argument(%x: tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>
forward {
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-propagate-quantization | Reason="stops at an argument: reason 1, no kernel of this region computes an argument"}}
  %q = fuseops.quantize %x : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>
  fuseops.return %q : !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>
}

// CHECK-LABEL: fuseops.fusible @reason_2_library(
fuseops.fusible @reason_2_library(%x: tensor<?x32xbf16>, %w: tensor<32x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>
forward {
  // CHECK: %[[Y:.+]] = fuseops.linear
  // CHECK-NEXT: fuseops.quantize %[[Y]]
  %y = fuseops.linear %x, %w : (tensor<?x32xbf16>, tensor<32x32xbf16>) -> tensor<?x32xbf16>
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-propagate-quantization | Reason="stops at fuseops.linear: reason 2, a library computes the product"}}
  %q = fuseops.quantize %y : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>
  fuseops.return %q : !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>
}

// CHECK-LABEL: fuseops.fusible @reason_3_collective(
fuseops.fusible @reason_3_collective(%x: tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>
forward {
  // CHECK: %[[Y:.+]] = fuseops.all_reduce
  // CHECK-NEXT: fuseops.quantize %[[Y]]
  %y = fuseops.all_reduce %x group("tp") size(4) : tensor<?x32xbf16> -> tensor<?x32xbf16>
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-propagate-quantization | Reason="stops at fuseops.all_reduce: reason 3, the value comes from other processes"}}
  %q = fuseops.quantize %y : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>
  fuseops.return %q : !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>
}

// CHECK-LABEL: fuseops.fusible @reason_4_own_scale(
fuseops.fusible @reason_4_own_scale(%x: tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = row>
forward {
  %y = fuseops.relu %x : tensor<?x32xbf16>
  %a = fuseops.amax %y : tensor<?x32xbf16> -> tensor<f32>
  %s = fuseops.compute_scale %a format(f8E4M3FN) : tensor<f32>
  // CHECK: fuseops.quantize
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-propagate-quantization | Reason="stops at fuseops.relu: reason 4, the scale is computed from the whole value first"}}
  %q = fuseops.quantize %y scale(%s) : (tensor<?x32xbf16>, tensor<f32>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = row>
  fuseops.return %q : !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = row>
}

// bf16 between them loses the least numbers, and scales that are computed again
// are others.
// CHECK-LABEL: fuseops.fusible @reason_5_dequantized(
fuseops.fusible @reason_5_dequantized(%x: tensor<?x32xbf16>, %s: tensor<f32>, %t: !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>) -> (!fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = row>, !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>)
forward {
  %r = fuseops.relu %x : tensor<?x32xbf16>
  %q = fuseops.quantize %r scale(%s) : (tensor<?x32xbf16>, tensor<f32>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = row>
  // CHECK: %[[D:.+]] = fuseops.dequantize
  // CHECK-NEXT: fuseops.quantize %[[D]]
  %d = fuseops.dequantize %q : !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = row> -> tensor<?x32xbf16>
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-propagate-quantization | Reason="stops at fuseops.dequantize: reason 5, quantizing what was dequantized is not exact by the rules"}}
  %p = fuseops.quantize %d scale(%s) : (tensor<?x32xbf16>, tensor<f32>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = row>
  // CHECK: %[[E:.+]] = fuseops.dequantize
  // CHECK-NEXT: fuseops.quantize %[[E]]
  %e = fuseops.dequantize %t : !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row> -> tensor<?x32xf32>
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-propagate-quantization | Reason="stops at fuseops.dequantize: reason 5, quantizing what was dequantized is not exact by the rules"}}
  %u = fuseops.quantize %e : (tensor<?x32xf32>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>
  fuseops.return %p, %u : !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = row>, !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>
}

// A result is read as it is; a linear with a bias reads rows.
// CHECK-LABEL: fuseops.fusible @reason_6_transposed(
fuseops.fusible @reason_6_transposed(%x: tensor<32x32xbf16>, %w: !fuseops.quantized<16x32xf8E4M3FN, scale = block<128x128>, copies = row>, %b: tensor<16xbf16>) -> (tensor<32x16xbf16>, !fuseops.quantized<32x32xf8E4M3FN, scale = per_row, copies = row>)
forward {
  %r = fuseops.relu %x : tensor<32x32xbf16>
  // CHECK: %[[T:.+]] = fuseops.permute
  // CHECK-NEXT: %[[Q:.+]] = fuseops.quantize %[[T]]
  // CHECK-NEXT: fuseops.linear %[[Q]]
  // CHECK-NEXT: fuseops.quantize %[[T]]
  %t = fuseops.permute %r order[1, 0] : tensor<32x32xbf16> -> tensor<32x32xbf16>
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-propagate-quantization | Reason="stops at fuseops.permute: reason 6, what reads it does not read it transposed, and FP8 data with scales of rows is not transposed"}}
  %0 = fuseops.quantize %t : (tensor<32x32xbf16>) -> !fuseops.quantized<32x32xf8E4M3FN, scale = block<1x128>, copies = row>
  %1 = fuseops.linear %0, %w bias(%b) : (!fuseops.quantized<32x32xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<16x32xf8E4M3FN, scale = block<128x128>, copies = row>, tensor<16xbf16>) -> tensor<32x16xbf16>
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-propagate-quantization | Reason="stops at fuseops.permute: reason 6, what reads it does not read it transposed, and FP8 data with scales of rows is not transposed"}}
  %2 = fuseops.quantize %t : (tensor<32x32xbf16>) -> !fuseops.quantized<32x32xf8E4M3FN, scale = per_row, copies = row>
  fuseops.return %1, %2 : tensor<32x16xbf16>, !fuseops.quantized<32x32xf8E4M3FN, scale = per_row, copies = row>
}

// CHECK-LABEL: fuseops.fusible @reason_7_reshaped(
fuseops.fusible @reason_7_reshaped(%x: tensor<8x4x16xbf16>) -> !fuseops.quantized<8x64xf8E4M3FN, scale = mx<1x32>, copies = row>
forward {
  %r = fuseops.relu %x : tensor<8x4x16xbf16>
  // CHECK: %[[M:.+]] = fuseops.reshape
  // CHECK-NEXT: fuseops.quantize %[[M]]
  %m = fuseops.reshape %r : tensor<8x4x16xbf16> -> tensor<8x64xbf16>
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-propagate-quantization | Reason="stops at fuseops.relu: reason 7, the reshape changes the columns, and so what a scale covers"}}
  %q = fuseops.quantize %m : (tensor<8x64xbf16>) -> !fuseops.quantized<8x64xf8E4M3FN, scale = mx<1x32>, copies = row>
  fuseops.return %q : !fuseops.quantized<8x64xf8E4M3FN, scale = mx<1x32>, copies = row>
}

// 64 columns are half a block; a scale of a row covers both halves; in the
// transposed copy, columns of 128x128 scales are padded.
// CHECK-LABEL: fuseops.fusible @reason_8_boundary(
fuseops.fusible @reason_8_boundary(%x: tensor<?x64xbf16>, %y: tensor<128x128xbf16>) -> (!fuseops.quantized<?x128xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<?x128xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<256x128xf8E4M3FN, scale = block<128x128>, copies = row_col>, !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = row>)
forward {
  %a = fuseops.relu %x : tensor<?x64xbf16>
  %b = fuseops.silu %x : tensor<?x64xbf16>
  // CHECK: %[[C:.+]] = fuseops.concat
  // CHECK-NEXT: fuseops.quantize %[[C]]
  // CHECK-NEXT: fuseops.quantize %[[C]]
  %c = fuseops.concat %a, %b dim(1) : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x128xbf16>
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-propagate-quantization | Reason="stops at fuseops.concat: reason 8, what one scale covers crosses a boundary"}}
  %0 = fuseops.quantize %c : (tensor<?x128xbf16>) -> !fuseops.quantized<?x128xf8E4M3FN, scale = block<1x128>, copies = row>
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-propagate-quantization | Reason="stops at fuseops.concat: reason 8, what one scale covers crosses a boundary"}}
  %1 = fuseops.quantize %c : (tensor<?x128xbf16>) -> !fuseops.quantized<?x128xf8E4M3FN, scale = per_row, copies = row>
  %d = fuseops.relu %y : tensor<128x128xbf16>
  // CHECK: %[[E:.+]] = fuseops.concat
  // CHECK-NEXT: fuseops.quantize %[[E]]
  %e = fuseops.concat %d, %d dim(0) : (tensor<128x128xbf16>, tensor<128x128xbf16>) -> tensor<256x128xbf16>
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-propagate-quantization | Reason="stops at fuseops.concat: reason 8, what one scale covers crosses a boundary"}}
  %2 = fuseops.quantize %e : (tensor<256x128xbf16>) -> !fuseops.quantized<256x128xf8E4M3FN, scale = block<128x128>, copies = row_col>
  // CHECK: %[[S:.+]] = fuseops.slice
  // CHECK-NEXT: fuseops.quantize %[[S]]
  %s = fuseops.slice %a dim(1) offset(0) : tensor<?x64xbf16> -> tensor<?x32xbf16>
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-propagate-quantization | Reason="stops at fuseops.slice: reason 8, what one scale covers crosses a boundary"}}
  %3 = fuseops.quantize %s : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = row>
  fuseops.return %0, %1, %2, %3 : !fuseops.quantized<?x128xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<?x128xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<256x128xf8E4M3FN, scale = block<128x128>, copies = row_col>, !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = row>
}

// What is joined comes from elsewhere; what is sliced is read by others too; a
// permutation of heads.
// CHECK-LABEL: fuseops.fusible @reason_9_moved(
fuseops.fusible @reason_9_moved(%x: tensor<?x128xbf16>, %y: tensor<4x8x32xbf16>) -> (!fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<?x128xf8E4M3FN, scale = block<1x128>, copies = row>, tensor<?x256xbf16>, !fuseops.quantized<32x32xf8E4M3FN, scale = mx<1x32>, copies = row>)
forward {
  // CHECK: %[[C:.+]] = fuseops.concat
  // CHECK-NEXT: fuseops.quantize %[[C]]
  %c = fuseops.concat %x, %x dim(1) : (tensor<?x128xbf16>, tensor<?x128xbf16>) -> tensor<?x256xbf16>
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-propagate-quantization | Reason="stops at fuseops.concat: reason 9, the elements come from other places"}}
  %0 = fuseops.quantize %c : (tensor<?x256xbf16>) -> !fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row>
  // CHECK: %[[S:.+]] = fuseops.slice
  // CHECK-NEXT: fuseops.quantize %[[S]]
  %r = fuseops.relu %c : tensor<?x256xbf16>
  %s = fuseops.slice %r dim(1) offset(128) : tensor<?x256xbf16> -> tensor<?x128xbf16>
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-propagate-quantization | Reason="stops at fuseops.slice: reason 9, the elements come from other places"}}
  %1 = fuseops.quantize %s : (tensor<?x128xbf16>) -> !fuseops.quantized<?x128xf8E4M3FN, scale = block<1x128>, copies = row>
  // CHECK: fuseops.permute
  %p = fuseops.permute %y order[1, 0, 2] : tensor<4x8x32xbf16> -> tensor<8x4x32xbf16>
  %m = fuseops.reshape %p : tensor<8x4x32xbf16> -> tensor<32x32xbf16>
  // CHECK: %[[M:.+]] = fuseops.reshape
  // CHECK-NEXT: fuseops.quantize %[[M]]
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-propagate-quantization | Reason="stops at fuseops.permute: reason 9, the elements come from other places"}}
  %2 = fuseops.quantize %m : (tensor<32x32xbf16>) -> !fuseops.quantized<32x32xf8E4M3FN, scale = mx<1x32>, copies = row>
  fuseops.return %0, %1, %r, %2 : !fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<?x128xf8E4M3FN, scale = block<1x128>, copies = row>, tensor<?x256xbf16>, !fuseops.quantized<32x32xf8E4M3FN, scale = mx<1x32>, copies = row>
}
