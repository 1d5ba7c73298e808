// What quantizes blocks of several rows, or is written transposed, is a tile kernel. It takes in
// what its elements are computed from, and leaves statistics of rows to others.
// RUN: fuse-opt %s --fuseops-expand-quantized --fuseops-forward-fusion | FileCheck %s

!blocks = !fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row_col>
!rows = !fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row>
!whole = !fuseops.quantized<?x256xf8E4M3FN, scale = per_tensor, copies = row_col>

// Both copies, their scales and the value itself in one kernel.
// CHECK-LABEL: fuseops.fusible @activation(
// CHECK: %[[ONE:.+]]:5 = fuseops.group @forward_0 tile
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @activation(%x: tensor<?x256xbf16>) -> (tensor<?x256xbf16>, !blocks)
forward {
  %y = fuseops.silu %x : tensor<?x256xbf16>
  %q = fuseops.quantize %y : (tensor<?x256xbf16>) -> !blocks
  fuseops.return %y, %q : tensor<?x256xbf16>, !blocks
}

// The norm comes apart: its statistic is a kernel of rows, which also adds the
// residual that the statistic is of; the rest belongs to the tiles.
// CHECK-LABEL: fuseops.fusible @norm(
// CHECK: %[[ROW:.+]]:2 = fuseops.group @forward_0 row
// CHECK: fuseops.add
// CHECK: fuseops.reduce_columns
// CHECK: %[[TILE:.+]]:4 = fuseops.group @forward_1 tile ({{.*}} = %[[ROW]]#
// CHECK-NOT: fuseops.reduce_columns
// CHECK: fuseops.reduce_blocks
// CHECK: fuseops.reduce_blocks
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @norm(%x: tensor<?x256xbf16>, %r: tensor<?x256xbf16>, %g: tensor<256xbf16>) -> (tensor<?x256xbf16>, !blocks)
forward {
  %s = fuseops.add %x, %r : tensor<?x256xbf16>, tensor<?x256xbf16> -> tensor<?x256xbf16>
  %y, %rstd = fuseops.rms_norm %s gamma(%g) eps(1.0e-6) : (tensor<?x256xbf16>, tensor<256xbf16>) -> (tensor<?x256xbf16>, tensor<?x1xf32>)
  %q = fuseops.quantize %y : (tensor<?x256xbf16>) -> !blocks
  fuseops.return %s, %q : tensor<?x256xbf16>, !blocks
}

// With the row copy alone all is one kernel of rows, and the norm stays whole.
// CHECK-LABEL: fuseops.fusible @norm_rows(
// CHECK: %[[ONE:.+]]:4 = fuseops.group @forward_0 row (
// CHECK: fuseops.rms_norm
// CHECK: fuseops.reduce_blocks
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @norm_rows(%x: tensor<?x256xbf16>, %r: tensor<?x256xbf16>, %g: tensor<256xbf16>) -> (tensor<?x256xbf16>, tensor<?x1xf32>, !rows)
forward {
  %s = fuseops.add %x, %r : tensor<?x256xbf16>, tensor<?x256xbf16> -> tensor<?x256xbf16>
  %y, %rstd = fuseops.rms_norm %s gamma(%g) eps(1.0e-6) : (tensor<?x256xbf16>, tensor<256xbf16>) -> (tensor<?x256xbf16>, tensor<?x1xf32>)
  %q = fuseops.quantize %y : (tensor<?x256xbf16>) -> !rows
  fuseops.return %s, %rstd, %q : tensor<?x256xbf16>, tensor<?x1xf32>, !rows
}

// So is one beside sums over the columns.
// CHECK-LABEL: fuseops.fusible @bias_gradient_rows(
// CHECK: fuseops.group @forward_0 row_column (
// CHECK: fuseops.reduce_rows
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @bias_gradient_rows(%dy: tensor<?x256xbf16>, %x: tensor<?x256xbf16>) -> (tensor<256xbf16>, !rows)
forward {
  %dx = fuseops.silu_grad %dy, %x : tensor<?x256xbf16>
  %db = fuseops.reduce_rows sum %dx : tensor<?x256xbf16> -> tensor<256xbf16>
  %q = fuseops.quantize %dx : (tensor<?x256xbf16>) -> !rows
  fuseops.return %db, %q : tensor<256xbf16>, !rows
}

// A norm that no tile reads stays whole.
// CHECK-LABEL: fuseops.fusible @norm_alone(
// CHECK: fuseops.group @forward_0 row
// CHECK-NEXT: fuseops.rms_norm
fuseops.fusible @norm_alone(%x: tensor<?x256xbf16>, %g: tensor<256xbf16>) -> tensor<?x256xbf16>
forward {
  %y, %rstd = fuseops.rms_norm %x gamma(%g) eps(1.0e-6) : (tensor<?x256xbf16>, tensor<256xbf16>) -> (tensor<?x256xbf16>, tensor<?x1xf32>)
  fuseops.return %y : tensor<?x256xbf16>
}

// Sums over rows are not in the way of tiles.
// CHECK-LABEL: fuseops.fusible @bias_gradient(
// CHECK: fuseops.group @forward_0 tile
// CHECK: fuseops.reduce_rows
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @bias_gradient(%dy: tensor<?x256xbf16>, %x: tensor<?x256xbf16>) -> (tensor<256xbf16>, !blocks)
forward {
  %dx = fuseops.silu_grad %dy, %x : tensor<?x256xbf16>
  %db = fuseops.reduce_rows sum %dx : tensor<?x256xbf16> -> tensor<256xbf16>
  %q = fuseops.quantize %dx : (tensor<?x256xbf16>) -> !blocks
  fuseops.return %db, %q : tensor<256xbf16>, !blocks
}

// Neither is a maximum of all elements: any tile adds to it.
// CHECK-LABEL: fuseops.fusible @delayed(
// CHECK: fuseops.group @forward_0 tile
// CHECK: fuseops.silu
// CHECK: fuseops.amax
// CHECK: fuseops.permute
fuseops.fusible @delayed(%x: tensor<?x256xbf16>, %s: tensor<f32>) -> (tensor<f32>, !whole)
forward {
  %y = fuseops.silu %x : tensor<?x256xbf16>
  %a = fuseops.amax %y : tensor<?x256xbf16> -> tensor<f32>
  %q = fuseops.quantize %y scale(%s) : (tensor<?x256xbf16>, tensor<f32>) -> !whole
  fuseops.return %a, %q : tensor<f32>, !whole
}

// A quantized tensor is read where it is needed; its row copy by rows.
// CHECK-LABEL: fuseops.fusible @dequantize(
// CHECK: fuseops.group @forward_0 row
// CHECK: fuseops.expand_blocks
// CHECK: fuseops.relu
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @dequantize(%q: !blocks) -> tensor<?x256xbf16>
forward {
  %y = fuseops.dequantize %q : !blocks -> tensor<?x256xbf16>
  %z = fuseops.relu %y : tensor<?x256xbf16>
  fuseops.return %z : tensor<?x256xbf16>
}

// A matrix that is only written transposed is of tiles, one that moves heads is
// not.
// CHECK-LABEL: fuseops.fusible @transposed(
// CHECK: fuseops.group @forward_0 tile
// CHECK: fuseops.group @forward_1 pointwise
fuseops.fusible @transposed(%x: tensor<64x32xf32>, %h: tensor<4x8x16xf32>) -> (tensor<32x64xf32>, tensor<8x4x16xf32>)
forward {
  %0 = fuseops.relu %x : tensor<64x32xf32>
  %1 = fuseops.permute %0 order[1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
  %2 = fuseops.relu %h : tensor<4x8x16xf32>
  %3 = fuseops.permute %2 order[1, 0, 2] : tensor<4x8x16xf32> -> tensor<8x4x16xf32>
  fuseops.return %1, %3 : tensor<32x64xf32>, tensor<8x4x16xf32>
}

// What is transposed and transposed back, or joined with zeros and cut out again,
// is read where it is: nothing goes through memory between the two.
// CHECK-LABEL: fuseops.fusible @moves(
// CHECK: fuseops.group @forward_0 tile
// CHECK-NOT: fuseops.permute
// CHECK-NOT: fuseops.slice
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
!square = !fuseops.quantized<384x256xf8E4M3FN, scale = block<128x128>, copies = col>
fuseops.fusible @moves(%x: tensor<384x256xf32>) -> tensor<384x256xf32>
forward {
  %q = fuseops.quantize %x : (tensor<384x256xf32>) -> !square
  %y = fuseops.dequantize %q : !square -> tensor<384x256xf32>
  fuseops.return %y : tensor<384x256xf32>
}

// A matrix that is transposed by a kernel of its own is read along its columns.
// CHECK-LABEL: fuseops.fusible @delayed_gated(
// CHECK: fuseops.group @forward_{{[01]}} tile
// CHECK-NEXT: fuseops.silu
// CHECK: fuseops.amax
// CHECK: fuseops.permute
// CHECK: fuseops.yield
fuseops.fusible @delayed_gated(%x: tensor<?x256xbf16>, %u: tensor<?x256xbf16>, %s: tensor<f32>) -> (tensor<f32>, !whole)
forward {
  %g = fuseops.silu %x : tensor<?x256xbf16>
  %y = fuseops.mul %g, %u : tensor<?x256xbf16>, tensor<?x256xbf16> -> tensor<?x256xbf16>
  %a = fuseops.amax %y : tensor<?x256xbf16> -> tensor<f32>
  %q = fuseops.quantize %y scale(%s) : (tensor<?x256xbf16>, tensor<f32>) -> !whole
  fuseops.return %a, %q : tensor<f32>, !whole
}
