// RUN: fuse-opt %s --fuseops-propagate-quantization | FileCheck %s

// Two products and the residual read one value: one quantize, and the value stays
// for the sum.
// CHECK-LABEL: fuseops.fusible @several_consumers(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x32xbf16>, %[[ARG1:.+]]: !fuseops.quantized<32x32xf8E4M3FN, scale = block<128x128>, copies = row>, %[[ARG2:.+]]: !fuseops.quantized<32x32xf8E4M3FN, scale = block<128x128>, copies = row>) -> (tensor<?x32xbf16>, tensor<?x32xbf16>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<?x32xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.quantize %[[V0]] : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = row>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.linear %[[V1]], %[[ARG1]] : (!fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<32x32xf8E4M3FN, scale = block<128x128>, copies = row>) -> tensor<?x32xbf16>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.linear %[[V1]], %[[ARG2]] : (!fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<32x32xf8E4M3FN, scale = block<128x128>, copies = row>) -> tensor<?x32xbf16>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.add %[[V0]], %[[V3]] : tensor<?x32xbf16>, tensor<?x32xbf16> -> tensor<?x32xbf16>
// CHECK-NEXT:   fuseops.return %[[V2]], %[[V4]] : tensor<?x32xbf16>, tensor<?x32xbf16>
// CHECK-NEXT: }
fuseops.fusible @several_consumers(%x: tensor<?x32xbf16>, %a: !fuseops.quantized<32x32xf8E4M3FN, scale = block<128x128>, copies = row>, %b: !fuseops.quantized<32x32xf8E4M3FN, scale = block<128x128>, copies = row>) -> (tensor<?x32xbf16>, tensor<?x32xbf16>)
forward {
  %s = fuseops.silu %x : tensor<?x32xbf16>
  %0 = fuseops.quantize %s : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = row>
  %1 = fuseops.linear %0, %a : (!fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<32x32xf8E4M3FN, scale = block<128x128>, copies = row>) -> tensor<?x32xbf16>
  %2 = fuseops.quantize %s : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = row>
  %3 = fuseops.linear %2, %b : (!fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<32x32xf8E4M3FN, scale = block<128x128>, copies = row>) -> tensor<?x32xbf16>
  %4 = fuseops.add %s, %3 : tensor<?x32xbf16>, tensor<?x32xbf16> -> tensor<?x32xbf16>
  fuseops.return %1, %4 : tensor<?x32xbf16>, tensor<?x32xbf16>
}

// Other rules, another tensor: nothing to merge.
// CHECK-LABEL: fuseops.fusible @other_rules(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x32xbf16>) -> (!fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<?x32xf8E5M2, scale = per_row, copies = row>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<?x32xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.quantize %[[V0]] : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.quantize %[[V0]] {power_of_two} : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.quantize %[[V0]] : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E5M2, scale = per_row, copies = row>
// CHECK-NEXT:   fuseops.return %[[V1]], %[[V2]], %[[V3]] : !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<?x32xf8E5M2, scale = per_row, copies = row>
// CHECK-NEXT: }
fuseops.fusible @other_rules(%x: tensor<?x32xbf16>) -> (!fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<?x32xf8E5M2, scale = per_row, copies = row>)
forward {
  %s = fuseops.silu %x : tensor<?x32xbf16>
  %0 = fuseops.quantize %s : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>
  %1 = fuseops.quantize %s {power_of_two} : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>
  %2 = fuseops.quantize %s : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E5M2, scale = per_row, copies = row>
  fuseops.return %0, %1, %2 : !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<?x32xf8E5M2, scale = per_row, copies = row>
}

// Backward's transposed copy of what forward computes is written by forward, and
// saved in place of the value.
// CHECK-LABEL: fuseops.fusible @saved_value(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x32xbf16>, %[[ARG1:.+]]: !fuseops.quantized<32x32xf8E4M3FN, scale = block<128x128>, copies = row>) -> tensor<?x32xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<?x32xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.quantize %[[V0]] : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = row_col>
// CHECK-NEXT:   %[[V2:.+]]:4 = fuseops.unpack_quantized %[[V1]] : (!fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = row_col>) -> (tensor<?x32xf8E4M3FN>, tensor<1x?xf32>, tensor<32x?xf8E4M3FN>, tensor<?x32xf32, #fuseops.blocks<128>>)
// CHECK-NEXT:   %[[V3:.+]] = fuseops.pack_quantized %[[V2]]#2, %[[V2]]#3 : (tensor<32x?xf8E4M3FN>, tensor<?x32xf32, #fuseops.blocks<128>>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.linear %[[V1]], %[[ARG1]] : (!fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = row_col>, !fuseops.quantized<32x32xf8E4M3FN, scale = block<128x128>, copies = row>) -> tensor<?x32xbf16>
// CHECK-NEXT:   fuseops.return %[[V4]] save(%[[V3]]) : tensor<?x32xbf16>, !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x32xbf16>, saved %[[ARG1:.+]]: !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.relu %[[ARG0]] : tensor<?x32xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.quantize %[[V0]] : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.matmul %[[V1]], %[[ARG1]] transpose_lhs : !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>, !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col> -> tensor<32x32xbf16>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.reduce_rows sum %[[V2]] : tensor<32x32xbf16> -> tensor<32xbf16>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.bias %[[ARG0]], %[[V3]] : tensor<?x32xbf16>, tensor<32xbf16>
// CHECK-NEXT:   fuseops.return %[[V4]], none : tensor<?x32xbf16>
// CHECK-NEXT: }
fuseops.fusible @saved_value(%x: tensor<?x32xbf16>, %w: !fuseops.quantized<32x32xf8E4M3FN, scale = block<128x128>, copies = row>) -> tensor<?x32xbf16>
forward {
  %s = fuseops.silu %x : tensor<?x32xbf16>
  %0 = fuseops.quantize %s : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = row>
  %1 = fuseops.linear %0, %w : (!fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<32x32xf8E4M3FN, scale = block<128x128>, copies = row>) -> tensor<?x32xbf16>
  fuseops.return %1 save(%s) : tensor<?x32xbf16>, tensor<?x32xbf16>
}
backward (%dy: tensor<?x32xbf16>, saved %s: tensor<?x32xbf16>) {
  %g = fuseops.relu %dy : tensor<?x32xbf16>
  %0 = fuseops.quantize %g : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>
  %1 = fuseops.quantize %s : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>
  %2 = fuseops.matmul %0, %1 transpose_lhs : !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>, !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col> -> tensor<32x32xbf16>
  %3 = fuseops.reduce_rows sum %2 : tensor<32x32xbf16> -> tensor<32xbf16>
  %4 = fuseops.bias %dy, %3 : tensor<?x32xbf16>, tensor<32xbf16>
  fuseops.return %4, none : tensor<?x32xbf16>
}

// Behind reshapes the matrix is the same; the gradient that an add passes on to
// both of its operands is one value.
// CHECK-LABEL: fuseops.fusible @reshape(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x32xbf16>, %[[ARG1:.+]]: tensor<f32>) -> (tensor<8x8xbf16>, tensor<8x8xbf16>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.relu %[[ARG0]] : tensor<2x4x32xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reshape %[[V0]] : tensor<2x4x32xbf16> -> tensor<8x32xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.quantize %[[V1]] scale(%[[ARG1]]) : (tensor<8x32xbf16>, tensor<f32>) -> !fuseops.quantized<8x32xf8E4M3FN, scale = per_tensor, copies = row_col>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.matmul %[[V2]], %[[V2]] transpose_rhs : !fuseops.quantized<8x32xf8E4M3FN, scale = per_tensor, copies = row_col>, !fuseops.quantized<8x32xf8E4M3FN, scale = per_tensor, copies = row_col> -> tensor<8x8xbf16>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.matmul %[[V2]], %[[V2]] transpose_lhs : !fuseops.quantized<8x32xf8E4M3FN, scale = per_tensor, copies = row_col>, !fuseops.quantized<8x32xf8E4M3FN, scale = per_tensor, copies = row_col> -> tensor<32x32xbf16>
// CHECK-NEXT:   %[[V5:.+]] = fuseops.slice %[[V4]] dim(1) offset(0) : tensor<32x32xbf16> -> tensor<32x8xbf16>
// CHECK-NEXT:   %[[V6:.+]] = fuseops.slice %[[V5]] dim(0) offset(0) : tensor<32x8xbf16> -> tensor<8x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V3]], %[[V6]] : tensor<8x8xbf16>, tensor<8x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @reshape(%x: tensor<2x4x32xbf16>, %s: tensor<f32>) -> (tensor<8x8xbf16>, tensor<8x8xbf16>)
forward {
  %r = fuseops.relu %x : tensor<2x4x32xbf16>
  %0 = fuseops.reshape %r : tensor<2x4x32xbf16> -> tensor<8x32xbf16>
  %1 = fuseops.quantize %0 scale(%s) : (tensor<8x32xbf16>, tensor<f32>) -> !fuseops.quantized<8x32xf8E4M3FN, scale = per_tensor, copies = row>
  %2 = fuseops.reshape %r : tensor<2x4x32xbf16> -> tensor<8x32xbf16>
  %3 = fuseops.quantize %2 scale(%s) : (tensor<8x32xbf16>, tensor<f32>) -> !fuseops.quantized<8x32xf8E4M3FN, scale = per_tensor, copies = col>
  %4 = fuseops.matmul %1, %1 transpose_rhs : !fuseops.quantized<8x32xf8E4M3FN, scale = per_tensor, copies = row>, !fuseops.quantized<8x32xf8E4M3FN, scale = per_tensor, copies = row> -> tensor<8x8xbf16>
  %5 = fuseops.matmul %3, %3 transpose_lhs : !fuseops.quantized<8x32xf8E4M3FN, scale = per_tensor, copies = col>, !fuseops.quantized<8x32xf8E4M3FN, scale = per_tensor, copies = col> -> tensor<32x32xbf16>
  %6 = fuseops.slice %5 dim(1) offset(0) : tensor<32x32xbf16> -> tensor<32x8xbf16>
  %7 = fuseops.slice %6 dim(0) offset(0) : tensor<32x8xbf16> -> tensor<8x8xbf16>
  fuseops.return %4, %7 : tensor<8x8xbf16>, tensor<8x8xbf16>
}

// The product reads what is transposed from the other copy.
// CHECK-LABEL: fuseops.fusible @transpose(
// CHECK-SAME: %[[ARG0:.+]]: tensor<32x64xbf16>, %[[ARG1:.+]]: !fuseops.quantized<16x32xf8E4M3FN, scale = block<128x128>, copies = row>) -> tensor<64x16xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.relu %[[ARG0]] : tensor<32x64xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.quantize %[[V0]] : (tensor<32x64xbf16>) -> !fuseops.quantized<32x64xf8E4M3FN, scale = block<1x128>, copies = col>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.matmul %[[V1]], %[[ARG1]] transpose_lhs transpose_rhs {fast_accumulate} : !fuseops.quantized<32x64xf8E4M3FN, scale = block<1x128>, copies = col>, !fuseops.quantized<16x32xf8E4M3FN, scale = block<128x128>, copies = row> -> tensor<64x16xbf16>
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<64x16xbf16>
// CHECK-NEXT: }
fuseops.fusible @transpose(%x: tensor<32x64xbf16>, %w: !fuseops.quantized<16x32xf8E4M3FN, scale = block<128x128>, copies = row>) -> tensor<64x16xbf16>
forward {
  %r = fuseops.relu %x : tensor<32x64xbf16>
  %t = fuseops.permute %r order[1, 0] : tensor<32x64xbf16> -> tensor<64x32xbf16>
  %0 = fuseops.quantize %t : (tensor<64x32xbf16>) -> !fuseops.quantized<64x32xf8E4M3FN, scale = block<1x128>, copies = row>
  %1 = fuseops.linear %0, %w {fast_accumulate} : (!fuseops.quantized<64x32xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<16x32xf8E4M3FN, scale = block<128x128>, copies = row>) -> tensor<64x16xbf16>
  fuseops.return %1 : tensor<64x16xbf16>
}

// Each half is quantized where it is computed; the scales of 1x128 lie transposed.
// Transposed data is joined as the halves lie, and transposed then.
// CHECK-LABEL: fuseops.fusible @concat_columns(
// CHECK-SAME: %[[ARG0:.+]]: tensor<64x128xbf16>) -> !fuseops.quantized<64x256xf8E4M3FN, scale = block<1x128>, copies = row_col>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.relu %[[ARG0]] : tensor<64x128xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.silu %[[ARG0]] : tensor<64x128xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.quantize %[[V0]] : (tensor<64x128xbf16>) -> !fuseops.quantized<64x128xf8E4M3FN, scale = block<1x128>, copies = row_col>
// CHECK-NEXT:   %[[V3:.+]]:4 = fuseops.unpack_quantized %[[V2]] : (!fuseops.quantized<64x128xf8E4M3FN, scale = block<1x128>, copies = row_col>) -> (tensor<64x128xf8E4M3FN>, tensor<1x64xf32>, tensor<128x64xf8E4M3FN>, tensor<1x128xf32>)
// CHECK-NEXT:   %[[V4:.+]] = fuseops.quantize %[[V1]] : (tensor<64x128xbf16>) -> !fuseops.quantized<64x128xf8E4M3FN, scale = block<1x128>, copies = row_col>
// CHECK-NEXT:   %[[V5:.+]]:4 = fuseops.unpack_quantized %[[V4]] : (!fuseops.quantized<64x128xf8E4M3FN, scale = block<1x128>, copies = row_col>) -> (tensor<64x128xf8E4M3FN>, tensor<1x64xf32>, tensor<128x64xf8E4M3FN>, tensor<1x128xf32>)
// CHECK-NEXT:   %[[V6:.+]] = fuseops.concat %[[V3]]#0, %[[V5]]#0 dim(1) : (tensor<64x128xf8E4M3FN>, tensor<64x128xf8E4M3FN>) -> tensor<64x256xf8E4M3FN>
// CHECK-NEXT:   %[[V7:.+]] = fuseops.concat %[[V3]]#1, %[[V5]]#1 dim(0) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<2x64xf32>
// CHECK-NEXT:   %[[V8:.+]] = fuseops.permute %[[V3]]#2 order[1, 0] : tensor<128x64xf8E4M3FN> -> tensor<64x128xf8E4M3FN>
// CHECK-NEXT:   %[[V9:.+]] = fuseops.permute %[[V5]]#2 order[1, 0] : tensor<128x64xf8E4M3FN> -> tensor<64x128xf8E4M3FN>
// CHECK-NEXT:   %[[V10:.+]] = fuseops.concat %[[V8]], %[[V9]] dim(1) : (tensor<64x128xf8E4M3FN>, tensor<64x128xf8E4M3FN>) -> tensor<64x256xf8E4M3FN>
// CHECK-NEXT:   %[[V11:.+]] = fuseops.permute %[[V10]] order[1, 0] : tensor<64x256xf8E4M3FN> -> tensor<256x64xf8E4M3FN>
// CHECK-NEXT:   %[[V12:.+]] = fuseops.concat %[[V3]]#3, %[[V5]]#3 dim(1) : (tensor<1x128xf32>, tensor<1x128xf32>) -> tensor<1x256xf32>
// CHECK-NEXT:   %[[V13:.+]] = fuseops.pack_quantized %[[V6]], %[[V7]], %[[V11]], %[[V12]] : (tensor<64x256xf8E4M3FN>, tensor<2x64xf32>, tensor<256x64xf8E4M3FN>, tensor<1x256xf32>) -> !fuseops.quantized<64x256xf8E4M3FN, scale = block<1x128>, copies = row_col>
// CHECK-NEXT:   fuseops.return %[[V13]] : !fuseops.quantized<64x256xf8E4M3FN, scale = block<1x128>, copies = row_col>
// CHECK-NEXT: }
fuseops.fusible @concat_columns(%x: tensor<64x128xbf16>) -> !fuseops.quantized<64x256xf8E4M3FN, scale = block<1x128>, copies = row_col>
forward {
  %a = fuseops.relu %x : tensor<64x128xbf16>
  %b = fuseops.silu %x : tensor<64x128xbf16>
  %c = fuseops.concat %a, %b dim(1) : (tensor<64x128xbf16>, tensor<64x128xbf16>) -> tensor<64x256xbf16>
  %q = fuseops.quantize %c : (tensor<64x256xbf16>) -> !fuseops.quantized<64x256xf8E4M3FN, scale = block<1x128>, copies = row_col>
  fuseops.return %q : !fuseops.quantized<64x256xf8E4M3FN, scale = block<1x128>, copies = row_col>
}

// One scale covers both; rows of outer dimensions are joined.
// CHECK-LABEL: fuseops.fusible @concat_rows(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x32xbf16>, %[[ARG1:.+]]: tensor<f32>) -> !fuseops.quantized<16x32xf8E4M3FN, scale = per_tensor, copies = row>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.relu %[[ARG0]] : tensor<2x4x32xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.silu %[[ARG0]] : tensor<2x4x32xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.reshape %[[V0]] : tensor<2x4x32xbf16> -> tensor<8x32xbf16>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.quantize %[[V2]] scale(%[[ARG1]]) : (tensor<8x32xbf16>, tensor<f32>) -> !fuseops.quantized<8x32xf8E4M3FN, scale = per_tensor, copies = row>
// CHECK-NEXT:   %[[V4:.+]]:2 = fuseops.unpack_quantized %[[V3]] : (!fuseops.quantized<8x32xf8E4M3FN, scale = per_tensor, copies = row>) -> (tensor<8x32xf8E4M3FN>, tensor<f32>)
// CHECK-NEXT:   %[[V5:.+]] = fuseops.reshape %[[V1]] : tensor<2x4x32xbf16> -> tensor<8x32xbf16>
// CHECK-NEXT:   %[[V6:.+]] = fuseops.quantize %[[V5]] scale(%[[ARG1]]) : (tensor<8x32xbf16>, tensor<f32>) -> !fuseops.quantized<8x32xf8E4M3FN, scale = per_tensor, copies = row>
// CHECK-NEXT:   %[[V7:.+]]:2 = fuseops.unpack_quantized %[[V6]] : (!fuseops.quantized<8x32xf8E4M3FN, scale = per_tensor, copies = row>) -> (tensor<8x32xf8E4M3FN>, tensor<f32>)
// CHECK-NEXT:   %[[V8:.+]] = fuseops.concat %[[V4]]#0, %[[V7]]#0 dim(0) : (tensor<8x32xf8E4M3FN>, tensor<8x32xf8E4M3FN>) -> tensor<16x32xf8E4M3FN>
// CHECK-NEXT:   %[[V9:.+]] = fuseops.pack_quantized %[[V8]], %[[V4]]#1 : (tensor<16x32xf8E4M3FN>, tensor<f32>) -> !fuseops.quantized<16x32xf8E4M3FN, scale = per_tensor, copies = row>
// CHECK-NEXT:   fuseops.return %[[V9]] : !fuseops.quantized<16x32xf8E4M3FN, scale = per_tensor, copies = row>
// CHECK-NEXT: }
fuseops.fusible @concat_rows(%x: tensor<2x4x32xbf16>, %s: tensor<f32>) -> !fuseops.quantized<16x32xf8E4M3FN, scale = per_tensor, copies = row>
forward {
  %a = fuseops.relu %x : tensor<2x4x32xbf16>
  %b = fuseops.silu %x : tensor<2x4x32xbf16>
  %c = fuseops.concat %a, %b dim(0) : (tensor<2x4x32xbf16>, tensor<2x4x32xbf16>) -> tensor<4x4x32xbf16>
  %m = fuseops.reshape %c : tensor<4x4x32xbf16> -> tensor<16x32xbf16>
  %q = fuseops.quantize %m scale(%s) : (tensor<16x32xbf16>, tensor<f32>) -> !fuseops.quantized<16x32xf8E4M3FN, scale = per_tensor, copies = row>
  fuseops.return %q : !fuseops.quantized<16x32xf8E4M3FN, scale = per_tensor, copies = row>
}

// What is split is quantized before; rows of scales are split with it.
// CHECK-LABEL: fuseops.fusible @split(
// CHECK-SAME: %[[ARG0:.+]]: tensor<8x64xbf16>) -> (!fuseops.quantized<4x64xf8E4M3FN, scale = mx<1x32>, copies = row>, !fuseops.quantized<4x64xf8E4M3FN, scale = mx<1x32>, copies = row>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.relu %[[ARG0]] : tensor<8x64xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.quantize %[[V0]] : (tensor<8x64xbf16>) -> !fuseops.quantized<8x64xf8E4M3FN, scale = mx<1x32>, copies = row>
// CHECK-NEXT:   %[[V2:.+]]:2 = fuseops.unpack_quantized %[[V1]] : (!fuseops.quantized<8x64xf8E4M3FN, scale = mx<1x32>, copies = row>) -> (tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>)
// CHECK-NEXT:   %[[V3:.+]] = fuseops.slice %[[V2]]#0 dim(0) offset(0) : tensor<8x64xf8E4M3FN> -> tensor<4x64xf8E4M3FN>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.slice %[[V2]]#1 dim(0) offset(0) : tensor<8x2xf8E8M0FNU> -> tensor<4x2xf8E8M0FNU>
// CHECK-NEXT:   %[[V5:.+]] = fuseops.pack_quantized %[[V3]], %[[V4]] : (tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>) -> !fuseops.quantized<4x64xf8E4M3FN, scale = mx<1x32>, copies = row>
// CHECK-NEXT:   %[[V6:.+]]:2 = fuseops.unpack_quantized %[[V1]] : (!fuseops.quantized<8x64xf8E4M3FN, scale = mx<1x32>, copies = row>) -> (tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>)
// CHECK-NEXT:   %[[V7:.+]] = fuseops.slice %[[V6]]#0 dim(0) offset(4) : tensor<8x64xf8E4M3FN> -> tensor<4x64xf8E4M3FN>
// CHECK-NEXT:   %[[V8:.+]] = fuseops.slice %[[V6]]#1 dim(0) offset(4) : tensor<8x2xf8E8M0FNU> -> tensor<4x2xf8E8M0FNU>
// CHECK-NEXT:   %[[V9:.+]] = fuseops.pack_quantized %[[V7]], %[[V8]] : (tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>) -> !fuseops.quantized<4x64xf8E4M3FN, scale = mx<1x32>, copies = row>
// CHECK-NEXT:   fuseops.return %[[V5]], %[[V9]] : !fuseops.quantized<4x64xf8E4M3FN, scale = mx<1x32>, copies = row>, !fuseops.quantized<4x64xf8E4M3FN, scale = mx<1x32>, copies = row>
// CHECK-NEXT: }
fuseops.fusible @split(%x: tensor<8x64xbf16>) -> (!fuseops.quantized<4x64xf8E4M3FN, scale = mx<1x32>, copies = row>, !fuseops.quantized<4x64xf8E4M3FN, scale = mx<1x32>, copies = row>)
forward {
  %y = fuseops.relu %x : tensor<8x64xbf16>
  %a = fuseops.slice %y dim(0) offset(0) : tensor<8x64xbf16> -> tensor<4x64xbf16>
  %b = fuseops.slice %y dim(0) offset(4) : tensor<8x64xbf16> -> tensor<4x64xbf16>
  %0 = fuseops.quantize %a : (tensor<4x64xbf16>) -> !fuseops.quantized<4x64xf8E4M3FN, scale = mx<1x32>, copies = row>
  %1 = fuseops.quantize %b : (tensor<4x64xbf16>) -> !fuseops.quantized<4x64xf8E4M3FN, scale = mx<1x32>, copies = row>
  fuseops.return %0, %1 : !fuseops.quantized<4x64xf8E4M3FN, scale = mx<1x32>, copies = row>, !fuseops.quantized<4x64xf8E4M3FN, scale = mx<1x32>, copies = row>
}

// A slice of what is quantized too, in columns of whole blocks.
// CHECK-LABEL: fuseops.fusible @slice_columns(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x1024xbf16>) -> (!fuseops.quantized<?x1024xf8E4M3FN, scale = block<128x128>, copies = row>, !fuseops.quantized<?x512xf8E4M3FN, scale = block<128x128>, copies = row>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.quantize %[[ARG0]] : (tensor<?x1024xbf16>) -> !fuseops.quantized<?x1024xf8E4M3FN, scale = block<128x128>, copies = row>
// CHECK-NEXT:   %[[V1:.+]]:2 = fuseops.unpack_quantized %[[V0]] : (!fuseops.quantized<?x1024xf8E4M3FN, scale = block<128x128>, copies = row>) -> (tensor<?x1024xf8E4M3FN>, tensor<?x8xf32, #fuseops.blocks<128>>)
// CHECK-NEXT:   %[[V2:.+]] = fuseops.slice %[[V1]]#0 dim(1) offset(512) : tensor<?x1024xf8E4M3FN> -> tensor<?x512xf8E4M3FN>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.slice %[[V1]]#1 dim(1) offset(4) : tensor<?x8xf32, #fuseops.blocks<128>> -> tensor<?x4xf32, #fuseops.blocks<128>>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.pack_quantized %[[V2]], %[[V3]] : (tensor<?x512xf8E4M3FN>, tensor<?x4xf32, #fuseops.blocks<128>>) -> !fuseops.quantized<?x512xf8E4M3FN, scale = block<128x128>, copies = row>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V4]] : !fuseops.quantized<?x1024xf8E4M3FN, scale = block<128x128>, copies = row>, !fuseops.quantized<?x512xf8E4M3FN, scale = block<128x128>, copies = row>
// CHECK-NEXT: }
fuseops.fusible @slice_columns(%x: tensor<?x1024xbf16>) -> (!fuseops.quantized<?x1024xf8E4M3FN, scale = block<128x128>, copies = row>, !fuseops.quantized<?x512xf8E4M3FN, scale = block<128x128>, copies = row>)
forward {
  %0 = fuseops.quantize %x : (tensor<?x1024xbf16>) -> !fuseops.quantized<?x1024xf8E4M3FN, scale = block<128x128>, copies = row>
  %s = fuseops.slice %x dim(1) offset(512) : tensor<?x1024xbf16> -> tensor<?x512xbf16>
  %1 = fuseops.quantize %s : (tensor<?x512xbf16>) -> !fuseops.quantized<?x512xf8E4M3FN, scale = block<128x128>, copies = row>
  fuseops.return %0, %1 : !fuseops.quantized<?x1024xf8E4M3FN, scale = block<128x128>, copies = row>, !fuseops.quantized<?x512xf8E4M3FN, scale = block<128x128>, copies = row>
}

// With f32 between them, what was quantized with the same scale is itself.
// CHECK-LABEL: fuseops.fusible @dequantized(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x32xf32>, %[[ARG1:.+]]: tensor<f32>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = col>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.relu %[[ARG0]] : tensor<?x32xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.quantize %[[V0]] scale(%[[ARG1]]) : (tensor<?x32xf32>, tensor<f32>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = row_col>
// CHECK-NEXT:   %[[V2:.+]]:4 = fuseops.unpack_quantized %[[V1]] : (!fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = row_col>) -> (tensor<?x32xf8E4M3FN>, tensor<f32>, tensor<32x?xf8E4M3FN>, tensor<f32>)
// CHECK-NEXT:   %[[V3:.+]] = fuseops.pack_quantized %[[V2]]#2, %[[V2]]#3 : (tensor<32x?xf8E4M3FN>, tensor<f32>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = col>
// CHECK-NEXT:   fuseops.return %[[V3]] : !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = col>
// CHECK-NEXT: }
fuseops.fusible @dequantized(%x: tensor<?x32xf32>, %s: tensor<f32>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = col>
forward {
  %r = fuseops.relu %x : tensor<?x32xf32>
  %q = fuseops.quantize %r scale(%s) : (tensor<?x32xf32>, tensor<f32>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = row>
  %d = fuseops.dequantize %q : !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = row> -> tensor<?x32xf32>
  %p = fuseops.quantize %d scale(%s) : (tensor<?x32xf32>, tensor<f32>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = col>
  fuseops.return %p : !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = col>
}

// What changes nothing is no other value.
// CHECK-LABEL: fuseops.fusible @identity(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x32xbf16>) -> (!fuseops.quantized<?x32xf8E4M3FN, scale = block<128x128>, copies = row>, !fuseops.quantized<?x32xf8E4M3FN, scale = block<128x128>, copies = row>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.relu %[[ARG0]] : tensor<?x32xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.quantize %[[V0]] : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<128x128>, copies = row>
// CHECK-NEXT:   fuseops.return %[[V1]], %[[V1]] : !fuseops.quantized<?x32xf8E4M3FN, scale = block<128x128>, copies = row>, !fuseops.quantized<?x32xf8E4M3FN, scale = block<128x128>, copies = row>
// CHECK-NEXT: }
fuseops.fusible @identity(%x: tensor<?x32xbf16>) -> (!fuseops.quantized<?x32xf8E4M3FN, scale = block<128x128>, copies = row>, !fuseops.quantized<?x32xf8E4M3FN, scale = block<128x128>, copies = row>)
forward {
  %y = fuseops.relu %x : tensor<?x32xbf16>
  %i = fuseops.identity %y : tensor<?x32xbf16>
  %0 = fuseops.quantize %i : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<128x128>, copies = row>
  %1 = fuseops.quantize %y : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<128x128>, copies = row>
  fuseops.return %0, %1 : !fuseops.quantized<?x32xf8E4M3FN, scale = block<128x128>, copies = row>, !fuseops.quantized<?x32xf8E4M3FN, scale = block<128x128>, copies = row>
}
