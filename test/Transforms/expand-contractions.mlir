// RUN: fuse-opt %s --fuseops-expand-contractions=chip=sm_90a | FileCheck %s
// RUN: fuse-opt %s --fuseops-expand-contractions | FileCheck %s --check-prefix=PLAIN
// RUN: fuse-opt %s --fuseops-expand-contractions=chip=sm_80 | FileCheck %s --check-prefix=PLAIN

// A layer reads both row copies.
// CHECK-LABEL: fuseops.fusible @linear(
// CHECK-SAME: %[[X:.+]]: !fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row_col>, %[[W:.+]]: !fuseops.quantized<128x256xf8E4M3FN, scale = block<128x128>, copies = row>, %[[B:.+]]: tensor<128xbf16>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[P:.+]]:4 = fuseops.unpack_quantized %[[X]]
// CHECK-NEXT:   %[[Q:.+]]:2 = fuseops.unpack_quantized %[[W]]
// CHECK-NEXT:   %[[Y:.+]] = fuseops.scaled_matmul %[[P]]#0[%[[P]]#1] block<1x128>, %[[Q]]#0[%[[Q]]#1] block<128x128> bias(%[[B]]) : (tensor<?x256xf8E4M3FN>, tensor<2x?xf32>, tensor<128x256xf8E4M3FN>, tensor<1x4xf32>, tensor<128xbf16>) -> tensor<?x128xbf16>
// CHECK-NEXT:   fuseops.return %[[Y]]
// PLAIN-LABEL: fuseops.fusible @linear(
// PLAIN-SAME: %[[X:.+]]: !fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row_col>, %[[W:.+]]: !fuseops.quantized<128x256xf8E4M3FN, scale = block<128x128>, copies = row>, %[[B:.+]]: tensor<128xbf16>)
// PLAIN-NEXT: forward {
// PLAIN-NEXT:   %[[P:.+]]:4 = fuseops.unpack_quantized %[[X]]
// PLAIN-NEXT:   %[[R:.+]] = fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<?x256xf8E4M3FN>, tensor<2x?xf32>) -> !fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row>
// PLAIN-NEXT:   %[[A:.+]] = fuseops.dequantize %[[R]] : <?x256xf8E4M3FN, scale = block<1x128>, copies = row> -> tensor<?x256xf32>
// PLAIN-NEXT:   %[[C:.+]] = fuseops.dequantize %[[W]] : <128x256xf8E4M3FN, scale = block<128x128>, copies = row> -> tensor<128x256xf32>
// PLAIN-NEXT:   %[[D:.+]] = fuseops.cast %[[B]] : tensor<128xbf16> -> tensor<128xf32>
// PLAIN-NEXT:   %[[Y:.+]] = fuseops.linear %[[A]], %[[C]] bias(%[[D]]) : (tensor<?x256xf32>, tensor<128x256xf32>, tensor<128xf32>) -> tensor<?x128xf32>
// PLAIN-NEXT:   %[[Z:.+]] = fuseops.cast %[[Y]] : tensor<?x128xf32> -> tensor<?x128xbf16>
// PLAIN-NEXT:   fuseops.return %[[Z]]
fuseops.fusible @linear(%x: !fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row_col>, %w: !fuseops.quantized<128x256xf8E4M3FN, scale = block<128x128>, copies = row>, %b: tensor<128xbf16>) -> tensor<?x128xbf16>
forward {
  %y = fuseops.linear %x, %w bias(%b) : (!fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row_col>, !fuseops.quantized<128x256xf8E4M3FN, scale = block<128x128>, copies = row>, tensor<128xbf16>) -> tensor<?x128xbf16>
  fuseops.return %y : tensor<?x128xbf16>
}

// The weight's gradient reads both transposed copies, over `?` rows.
// CHECK-LABEL: fuseops.fusible @weight_gradient(
// CHECK-SAME: %[[DY:.+]]: !fuseops.quantized<{{.+}}>, %[[X:.+]]: !fuseops.quantized<{{.+}}>) -> tensor<128x256xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[P:.+]]:2 = fuseops.unpack_quantized %[[DY]]
// CHECK-NEXT:   %[[Q:.+]]:4 = fuseops.unpack_quantized %[[X]]
// CHECK-NEXT:   %[[Y:.+]] = fuseops.scaled_matmul %[[P]]#0[%[[P]]#1] per_row, %[[Q]]#2[%[[Q]]#3] per_row : (tensor<128x?xf8E5M2>, tensor<128x1xf32>, tensor<256x?xf8E4M3FN>, tensor<256x1xf32>) -> tensor<128x256xf32>
// PLAIN-LABEL: fuseops.fusible @weight_gradient(
// PLAIN:   %[[A:.+]] = fuseops.dequantize {{.+}} : <?x128xf8E5M2, scale = per_row, copies = col> -> tensor<?x128xf32>
// PLAIN:   %[[B:.+]] = fuseops.dequantize {{.+}} : <?x256xf8E4M3FN, scale = per_row, copies = col> -> tensor<?x256xf32>
// PLAIN-NEXT:   %[[Y:.+]] = fuseops.matmul %[[A]], %[[B]] transpose_lhs : tensor<?x128xf32>, tensor<?x256xf32> -> tensor<128x256xf32>
// PLAIN-NEXT:   fuseops.return %[[Y]]
fuseops.fusible @weight_gradient(%dy: !fuseops.quantized<?x128xf8E5M2, scale = per_row, copies = col>, %x: !fuseops.quantized<?x256xf8E4M3FN, scale = per_row, copies = row_col>) -> tensor<128x256xf32>
forward {
  %dw = fuseops.matmul %dy, %x transpose_lhs : !fuseops.quantized<?x128xf8E5M2, scale = per_row, copies = col>, !fuseops.quantized<?x256xf8E4M3FN, scale = per_row, copies = row_col> -> tensor<128x256xf32>
  fuseops.return %dw : tensor<128x256xf32>
}

// A bias of another type is added in f32, before the one rounding; the flag
// stays.
// CHECK-LABEL: fuseops.fusible @wide_bias(
// CHECK:   %[[Y:.+]] = fuseops.scaled_matmul %{{.+}}[%{{.+}}] per_tensor, %{{.+}}[%{{.+}}] per_tensor bias(%{{.+}}) {fast_accumulate} : (tensor<4x32xf8E4M3FN>, tensor<f32>, tensor<16x32xf8E4M3FN>, tensor<f32>, tensor<16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT:   %[[Z:.+]] = fuseops.cast %[[Y]] : tensor<4x16xf32> -> tensor<4x16xf16>
// CHECK-NEXT:   fuseops.return %[[Z]]
fuseops.fusible @wide_bias(%x: !fuseops.quantized<4x32xf8E4M3FN, scale = per_tensor, copies = row>, %w: !fuseops.quantized<16x32xf8E4M3FN, scale = per_tensor, copies = row>, %b: tensor<16xf32>) -> tensor<4x16xf16>
forward {
  %y = fuseops.linear %x, %w bias(%b) {fast_accumulate} : (!fuseops.quantized<4x32xf8E4M3FN, scale = per_tensor, copies = row>, !fuseops.quantized<16x32xf8E4M3FN, scale = per_tensor, copies = row>, tensor<16xf32>) -> tensor<4x16xf16>
  fuseops.return %y : tensor<4x16xf16>
}

// Scales that are powers of two: bf16 holds the logical values. Those of a
// saved value are known from forward.
// CHECK-LABEL: fuseops.fusible @power_of_two(
// CHECK:   fuseops.return {{.+}} save(%[[Q:.+]], %{{.+}})
// CHECK: backward (%[[DY:.+]]: tensor<4x32xbf16>, saved %[[Q:.+]]: !fuseops.quantized<4x64xf8E4M3FN, scale = per_row, copies = col>, saved %[[M:.+]]: !fuseops.quantized<4x64xf8E4M3FN, scale = per_row, copies = col>) {
// CHECK-NEXT:   %[[A:.+]] = fuseops.dequantize %[[Q]] : <{{.+}}> -> tensor<4x64xbf16>
// CHECK-NEXT:   %[[D:.+]] = fuseops.matmul %[[DY]], %[[A]] transpose_lhs : tensor<4x32xbf16>, tensor<4x64xbf16> -> tensor<32x64xbf16>
// CHECK-NEXT:   %[[F:.+]] = fuseops.cast %[[DY]] : tensor<4x32xbf16> -> tensor<4x32xf32>
// CHECK-NEXT:   %[[B:.+]] = fuseops.dequantize %[[M]] : <{{.+}}> -> tensor<4x64xf32>
// CHECK-NEXT:   fuseops.matmul %[[F]], %[[B]] transpose_lhs : tensor<4x32xf32>, tensor<4x64xf32> -> tensor<32x64xf32>
fuseops.fusible @power_of_two(%x: tensor<4x64xbf16>, %w: tensor<32x64xbf16>) -> tensor<4x32xbf16>
forward {
  %q = fuseops.quantize %x {power_of_two} : (tensor<4x64xbf16>) -> !fuseops.quantized<4x64xf8E4M3FN, scale = per_row, copies = col>
  %r = fuseops.quantize %x : (tensor<4x64xbf16>) -> !fuseops.quantized<4x64xf8E4M3FN, scale = per_row, copies = col>
  %y = fuseops.linear %x, %w : (tensor<4x64xbf16>, tensor<32x64xbf16>) -> tensor<4x32xbf16>
  fuseops.return %y save(%q, %r) : tensor<4x32xbf16>, !fuseops.quantized<4x64xf8E4M3FN, scale = per_row, copies = col>, !fuseops.quantized<4x64xf8E4M3FN, scale = per_row, copies = col>
}
backward (%dy: tensor<4x32xbf16>, saved %q: !fuseops.quantized<4x64xf8E4M3FN, scale = per_row, copies = col>, saved %r: !fuseops.quantized<4x64xf8E4M3FN, scale = per_row, copies = col>) {
  %a = fuseops.matmul %dy, %q transpose_lhs : tensor<4x32xbf16>, !fuseops.quantized<4x64xf8E4M3FN, scale = per_row, copies = col> -> tensor<32x64xbf16>
  %b = fuseops.matmul %dy, %r transpose_lhs : tensor<4x32xbf16>, !fuseops.quantized<4x64xf8E4M3FN, scale = per_row, copies = col> -> tensor<32x64xf32>
  %c = fuseops.cast %b : tensor<32x64xf32> -> tensor<32x64xbf16>
  %dw = fuseops.add %a, %c : tensor<32x64xbf16>, tensor<32x64xbf16> -> tensor<32x64xbf16>
  fuseops.return none, %dw : tensor<32x64xbf16>
}

// The scale of a tensor comes from an operation that makes powers of two.
// CHECK-LABEL: fuseops.fusible @scale_operand(
// CHECK:   %[[A:.+]] = fuseops.dequantize %{{.+}} : <{{.+}}> -> tensor<4x64xbf16>
// CHECK-NEXT:   fuseops.linear %[[A]], %{{.+}} : (tensor<4x64xbf16>, tensor<32x64xbf16>) -> tensor<4x32xf32>
fuseops.fusible @scale_operand(%x: tensor<4x64xbf16>, %w: tensor<32x64xbf16>, %amax: tensor<f32>) -> tensor<4x32xf32>
forward {
  %s = fuseops.compute_scale %amax format(f8E4M3FN) power_of_two : tensor<f32>
  %q = fuseops.quantize %x scale(%s) : (tensor<4x64xbf16>, tensor<f32>) -> !fuseops.quantized<4x64xf8E4M3FN, scale = per_tensor, copies = row>
  %y = fuseops.linear %q, %w : (!fuseops.quantized<4x64xf8E4M3FN, scale = per_tensor, copies = row>, tensor<32x64xbf16>) -> tensor<4x32xf32>
  fuseops.return %y : tensor<4x32xf32>
}

// An f64 result, as the reference has, is a product of f64.
// CHECK-LABEL: fuseops.fusible @wide(
// CHECK:   %[[A:.+]] = fuseops.dequantize %{{.+}} -> tensor<4x64xf64>
// CHECK-NEXT:   %[[B:.+]] = fuseops.dequantize %{{.+}} -> tensor<32x64xf64>
// CHECK-NEXT:   fuseops.matmul %[[A]], %[[B]] transpose_rhs : tensor<4x64xf64>, tensor<32x64xf64> -> tensor<4x32xf64>
fuseops.fusible @wide(%x: !fuseops.quantized<4x64xf8E4M3FN, scale = per_tensor, copies = row>, %w: !fuseops.quantized<32x64xf8E4M3FN, scale = per_tensor, copies = row>) -> tensor<4x32xf64>
forward {
  %y = fuseops.matmul %x, %w transpose_rhs : !fuseops.quantized<4x64xf8E4M3FN, scale = per_tensor, copies = row>, !fuseops.quantized<32x64xf8E4M3FN, scale = per_tensor, copies = row> -> tensor<4x32xf64>
  fuseops.return %y : tensor<4x32xf64>
}

// Plain operands stay as they are.
// CHECK-LABEL: fuseops.fusible @plain(
// CHECK:   fuseops.matmul %{{.+}}, %{{.+}} : tensor<4x64xbf16>, tensor<64x32xbf16> -> tensor<4x32xbf16>
fuseops.fusible @plain(%x: tensor<4x64xbf16>, %w: tensor<64x32xbf16>) -> tensor<4x32xbf16>
forward {
  %y = fuseops.matmul %x, %w : tensor<4x64xbf16>, tensor<64x32xbf16> -> tensor<4x32xbf16>
  fuseops.return %y : tensor<4x32xbf16>
}
