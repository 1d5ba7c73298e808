// What is joined is quantized as one where a kernel has to read all of it anyway.
// RUN: fuse-opt %s --fuseops-propagate-quantization | FileCheck %s

!part = tensor<?x128xbf16>
!whole = tensor<?x256xbf16>
!row = !fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row>
!both = !fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row_col>
!tensor = !fuseops.quantized<?x256xf8E4M3FN, scale = per_tensor, copies = row_col>

// A kernel reads it besides.
// CHECK-LABEL: fuseops.fusible @other_reader(
// CHECK: %[[C:.+]] = fuseops.concat
// CHECK-NEXT: fuseops.quantize %[[C]]
fuseops.fusible @other_reader(%x: !part) -> (!both, !whole)
attributes {frozen_results = array<i64: 0, 1>} forward {
  %a = fuseops.relu %x : !part
  %b = fuseops.silu %x : !part
  %c = fuseops.concat %a, %b dim(1) : (!part, !part) -> !whole
  %q = fuseops.quantize %c : (!whole) -> !both
  %y = fuseops.relu %c : !whole
  fuseops.return %q, %y : !both, !whole
}

// Another quantize has scales of whole rows.
// CHECK-LABEL: fuseops.fusible @other_scale(
// CHECK: %[[C:.+]] = fuseops.concat
// CHECK-NEXT: fuseops.quantize %[[C]]
// CHECK-NEXT: fuseops.quantize %[[C]]
!per_row = !fuseops.quantized<?x256xf8E4M3FN, scale = per_row, copies = row>
fuseops.fusible @other_scale(%x: !part) -> (!row, !per_row)
attributes {frozen_results = array<i64: 0, 1>} forward {
  %a = fuseops.relu %x : !part
  %b = fuseops.silu %x : !part
  %c = fuseops.concat %a, %b dim(1) : (!part, !part) -> !whole
  %0 = fuseops.quantize %c : (!whole) -> !row
  %1 = fuseops.quantize %c : (!whole) -> !per_row
  fuseops.return %0, %1 : !row, !per_row
}

// A scale of a column is known when all of it is.
// CHECK-LABEL: fuseops.fusible @scale_of_columns(
// CHECK: %[[C:.+]] = fuseops.concat
// CHECK-NEXT: fuseops.quantize %[[C]]
!per_column = !fuseops.quantized<?x256xf8E4M3FN, scale = per_row, copies = col>
fuseops.fusible @scale_of_columns(%x: !part) -> !per_column
attributes {frozen_results = array<i64: 0>} forward {
  %a = fuseops.relu %x : !part
  %b = fuseops.silu %x : !part
  %c = fuseops.concat %a, %b dim(1) : (!part, !part) -> !whole
  %q = fuseops.quantize %c : (!whole) -> !per_column
  fuseops.return %q : !per_column
}

// Its own amax gives the scale, which stays that of all.
// CHECK-LABEL: fuseops.fusible @own_scale(
// CHECK: %[[C:.+]] = fuseops.concat
// CHECK-NEXT: %[[M:.+]] = fuseops.amax %[[C]]
// CHECK-NEXT: %[[S:.+]] = fuseops.compute_scale %[[M]]
// CHECK-NEXT: fuseops.quantize %[[C]] scale(%[[S]])
fuseops.fusible @own_scale(%x: !part) -> !tensor
attributes {frozen_results = array<i64: 0>} forward {
  %a = fuseops.relu %x : !part
  %b = fuseops.silu %x : !part
  %c = fuseops.concat %a, %b dim(1) : (!part, !part) -> !whole
  %m = fuseops.amax %c : !whole -> tensor<f32>
  %s = fuseops.compute_scale %m format(f8E4M3FN) : tensor<f32>
  %q = fuseops.quantize %c scale(%s) : (!whole, tensor<f32>) -> !tensor
  fuseops.return %q : !tensor
}

// Parts of two widths are not of one kernel of tiles, but of one of rows.
// CHECK-LABEL: fuseops.fusible @widths(
// CHECK: %[[C:.+]] = fuseops.concat
// CHECK-NEXT: fuseops.quantize %[[C]]
// CHECK: fuseops.relu
// CHECK: fuseops.quantize
// CHECK: fuseops.quantize
// CHECK: fuseops.concat
!wide = tensor<?x384xbf16>
!wide_both = !fuseops.quantized<?x384xf8E4M3FN, scale = block<1x128>, copies = row_col>
!wide_row = !fuseops.quantized<?x384xf8E4M3FN, scale = block<1x128>, copies = row>
fuseops.fusible @widths(%x: !part, %y: !whole) -> (!wide_both, !wide_row)
attributes {frozen_results = array<i64: 0, 1>} forward {
  %a = fuseops.relu %x : !part
  %b = fuseops.silu %y : !whole
  %c = fuseops.concat %a, %b dim(1) : (!part, !whole) -> !wide
  %0 = fuseops.quantize %c : (!wide) -> !wide_both
  %d = fuseops.silu %x : !part
  %e = fuseops.relu %y : !whole
  %f = fuseops.concat %d, %e dim(1) : (!part, !whole) -> !wide
  %1 = fuseops.quantize %f : (!wide) -> !wide_row
  fuseops.return %0, %1 : !wide_both, !wide_row
}

// Blocks of 64 columns lie in both parts.
// CHECK-LABEL: fuseops.fusible @boundary(
// CHECK: %[[C:.+]] = fuseops.concat
// CHECK-NEXT: fuseops.quantize %[[C]]
!narrow = !fuseops.quantized<?x128xf8E4M3FN, scale = block<1x128>, copies = row_col>
fuseops.fusible @boundary(%x: tensor<?x64xbf16>) -> !narrow
attributes {frozen_results = array<i64: 0>} forward {
  %a = fuseops.relu %x : tensor<?x64xbf16>
  %b = fuseops.silu %x : tensor<?x64xbf16>
  %c = fuseops.concat %a, %b dim(1) : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> !part
  %q = fuseops.quantize %c : (!part) -> !narrow
  fuseops.return %q : !narrow
}
