// RUN: fuse-opt %s | fuse-opt | FileCheck %s
// RUN: fuse-opt %s --mlir-print-op-generic | fuse-opt | FileCheck %s

// Every scale kind, set of copies and format, with the parts that it is at a
// boundary: data and scale_inv of each copy.

// CHECK-LABEL: fuseops.fusible @f8E4M3FN_per_tensor_row(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E4M3FN, scale = per_tensor, copies = row>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E4M3FN, scale = per_tensor, copies = row>) -> (tensor<200x300xf8E4M3FN>, tensor<f32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<200x300xf8E4M3FN>, tensor<f32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = per_tensor, copies = row>
fuseops.fusible @f8E4M3FN_per_tensor_row(%q: !fuseops.quantized<200x300xf8E4M3FN, scale = per_tensor, copies = row>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E4M3FN, scale = per_tensor, copies = row>) -> (tensor<200x300xf8E4M3FN>, tensor<f32>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<200x300xf8E4M3FN>, tensor<f32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = per_tensor, copies = row>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E4M3FN_per_tensor_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E4M3FN, scale = per_tensor, copies = col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E4M3FN, scale = per_tensor, copies = col>) -> (tensor<300x200xf8E4M3FN>, tensor<f32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<300x200xf8E4M3FN>, tensor<f32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = per_tensor, copies = col>
fuseops.fusible @f8E4M3FN_per_tensor_col(%q: !fuseops.quantized<200x300xf8E4M3FN, scale = per_tensor, copies = col>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E4M3FN, scale = per_tensor, copies = col>) -> (tensor<300x200xf8E4M3FN>, tensor<f32>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<300x200xf8E4M3FN>, tensor<f32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = per_tensor, copies = col>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E4M3FN_per_tensor_row_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E4M3FN, scale = per_tensor, copies = row_col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:4 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E4M3FN, scale = per_tensor, copies = row_col>) -> (tensor<200x300xf8E4M3FN>, tensor<f32>, tensor<300x200xf8E4M3FN>, tensor<f32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1, %[[P]]#2, %[[P]]#3 : (tensor<200x300xf8E4M3FN>, tensor<f32>, tensor<300x200xf8E4M3FN>, tensor<f32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = per_tensor, copies = row_col>
fuseops.fusible @f8E4M3FN_per_tensor_row_col(%q: !fuseops.quantized<200x300xf8E4M3FN, scale = per_tensor, copies = row_col>)
forward {
  %p:4 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E4M3FN, scale = per_tensor, copies = row_col>) -> (tensor<200x300xf8E4M3FN>, tensor<f32>, tensor<300x200xf8E4M3FN>, tensor<f32>)
  %r = fuseops.pack_quantized %p#0, %p#1, %p#2, %p#3 : (tensor<200x300xf8E4M3FN>, tensor<f32>, tensor<300x200xf8E4M3FN>, tensor<f32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = per_tensor, copies = row_col>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E4M3FN_per_row_row(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<?x300xf8E4M3FN, scale = per_row, copies = row>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<?x300xf8E4M3FN, scale = per_row, copies = row>) -> (tensor<?x300xf8E4M3FN>, tensor<?x1xf32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<?x300xf8E4M3FN>, tensor<?x1xf32>) -> !fuseops.quantized<?x300xf8E4M3FN, scale = per_row, copies = row>
fuseops.fusible @f8E4M3FN_per_row_row(%q: !fuseops.quantized<?x300xf8E4M3FN, scale = per_row, copies = row>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<?x300xf8E4M3FN, scale = per_row, copies = row>) -> (tensor<?x300xf8E4M3FN>, tensor<?x1xf32>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<?x300xf8E4M3FN>, tensor<?x1xf32>) -> !fuseops.quantized<?x300xf8E4M3FN, scale = per_row, copies = row>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E4M3FN_per_row_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E4M3FN, scale = per_row, copies = col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E4M3FN, scale = per_row, copies = col>) -> (tensor<300x200xf8E4M3FN>, tensor<300x1xf32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<300x200xf8E4M3FN>, tensor<300x1xf32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = per_row, copies = col>
fuseops.fusible @f8E4M3FN_per_row_col(%q: !fuseops.quantized<200x300xf8E4M3FN, scale = per_row, copies = col>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E4M3FN, scale = per_row, copies = col>) -> (tensor<300x200xf8E4M3FN>, tensor<300x1xf32>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<300x200xf8E4M3FN>, tensor<300x1xf32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = per_row, copies = col>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E4M3FN_per_row_row_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E4M3FN, scale = per_row, copies = row_col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:4 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E4M3FN, scale = per_row, copies = row_col>) -> (tensor<200x300xf8E4M3FN>, tensor<200x1xf32>, tensor<300x200xf8E4M3FN>, tensor<300x1xf32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1, %[[P]]#2, %[[P]]#3 : (tensor<200x300xf8E4M3FN>, tensor<200x1xf32>, tensor<300x200xf8E4M3FN>, tensor<300x1xf32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = per_row, copies = row_col>
fuseops.fusible @f8E4M3FN_per_row_row_col(%q: !fuseops.quantized<200x300xf8E4M3FN, scale = per_row, copies = row_col>)
forward {
  %p:4 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E4M3FN, scale = per_row, copies = row_col>) -> (tensor<200x300xf8E4M3FN>, tensor<200x1xf32>, tensor<300x200xf8E4M3FN>, tensor<300x1xf32>)
  %r = fuseops.pack_quantized %p#0, %p#1, %p#2, %p#3 : (tensor<200x300xf8E4M3FN>, tensor<200x1xf32>, tensor<300x200xf8E4M3FN>, tensor<300x1xf32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = per_row, copies = row_col>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E4M3FN_block_1x128_row(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E4M3FN, scale = block<1x128>, copies = row>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E4M3FN, scale = block<1x128>, copies = row>) -> (tensor<200x300xf8E4M3FN>, tensor<3x200xf32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<200x300xf8E4M3FN>, tensor<3x200xf32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = block<1x128>, copies = row>
fuseops.fusible @f8E4M3FN_block_1x128_row(%q: !fuseops.quantized<200x300xf8E4M3FN, scale = block<1x128>, copies = row>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E4M3FN, scale = block<1x128>, copies = row>) -> (tensor<200x300xf8E4M3FN>, tensor<3x200xf32>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<200x300xf8E4M3FN>, tensor<3x200xf32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = block<1x128>, copies = row>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E4M3FN_block_1x128_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E4M3FN, scale = block<1x128>, copies = col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E4M3FN, scale = block<1x128>, copies = col>) -> (tensor<300x200xf8E4M3FN>, tensor<2x300xf32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<300x200xf8E4M3FN>, tensor<2x300xf32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = block<1x128>, copies = col>
fuseops.fusible @f8E4M3FN_block_1x128_col(%q: !fuseops.quantized<200x300xf8E4M3FN, scale = block<1x128>, copies = col>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E4M3FN, scale = block<1x128>, copies = col>) -> (tensor<300x200xf8E4M3FN>, tensor<2x300xf32>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<300x200xf8E4M3FN>, tensor<2x300xf32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = block<1x128>, copies = col>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E4M3FN_block_1x128_row_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E4M3FN, scale = block<1x128>, copies = row_col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:4 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E4M3FN, scale = block<1x128>, copies = row_col>) -> (tensor<200x300xf8E4M3FN>, tensor<3x200xf32>, tensor<300x200xf8E4M3FN>, tensor<2x300xf32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1, %[[P]]#2, %[[P]]#3 : (tensor<200x300xf8E4M3FN>, tensor<3x200xf32>, tensor<300x200xf8E4M3FN>, tensor<2x300xf32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = block<1x128>, copies = row_col>
fuseops.fusible @f8E4M3FN_block_1x128_row_col(%q: !fuseops.quantized<200x300xf8E4M3FN, scale = block<1x128>, copies = row_col>)
forward {
  %p:4 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E4M3FN, scale = block<1x128>, copies = row_col>) -> (tensor<200x300xf8E4M3FN>, tensor<3x200xf32>, tensor<300x200xf8E4M3FN>, tensor<2x300xf32>)
  %r = fuseops.pack_quantized %p#0, %p#1, %p#2, %p#3 : (tensor<200x300xf8E4M3FN>, tensor<3x200xf32>, tensor<300x200xf8E4M3FN>, tensor<2x300xf32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = block<1x128>, copies = row_col>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E4M3FN_block_128x128_row(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = row>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = row>) -> (tensor<200x300xf8E4M3FN>, tensor<2x4xf32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<200x300xf8E4M3FN>, tensor<2x4xf32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = row>
fuseops.fusible @f8E4M3FN_block_128x128_row(%q: !fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = row>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = row>) -> (tensor<200x300xf8E4M3FN>, tensor<2x4xf32>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<200x300xf8E4M3FN>, tensor<2x4xf32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = row>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E4M3FN_block_128x128_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = col>) -> (tensor<300x200xf8E4M3FN>, tensor<3x4xf32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<300x200xf8E4M3FN>, tensor<3x4xf32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = col>
fuseops.fusible @f8E4M3FN_block_128x128_col(%q: !fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = col>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = col>) -> (tensor<300x200xf8E4M3FN>, tensor<3x4xf32>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<300x200xf8E4M3FN>, tensor<3x4xf32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = col>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E4M3FN_block_128x128_row_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = row_col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:4 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = row_col>) -> (tensor<200x300xf8E4M3FN>, tensor<2x4xf32>, tensor<300x200xf8E4M3FN>, tensor<3x4xf32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1, %[[P]]#2, %[[P]]#3 : (tensor<200x300xf8E4M3FN>, tensor<2x4xf32>, tensor<300x200xf8E4M3FN>, tensor<3x4xf32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = row_col>
fuseops.fusible @f8E4M3FN_block_128x128_row_col(%q: !fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = row_col>)
forward {
  %p:4 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = row_col>) -> (tensor<200x300xf8E4M3FN>, tensor<2x4xf32>, tensor<300x200xf8E4M3FN>, tensor<3x4xf32>)
  %r = fuseops.pack_quantized %p#0, %p#1, %p#2, %p#3 : (tensor<200x300xf8E4M3FN>, tensor<2x4xf32>, tensor<300x200xf8E4M3FN>, tensor<3x4xf32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = row_col>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E4M3FN_mx_1x32_row(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E4M3FN, scale = mx<1x32>, copies = row>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E4M3FN, scale = mx<1x32>, copies = row>) -> (tensor<200x300xf8E4M3FN>, tensor<200x10xf8E8M0FNU>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<200x300xf8E4M3FN>, tensor<200x10xf8E8M0FNU>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = mx<1x32>, copies = row>
fuseops.fusible @f8E4M3FN_mx_1x32_row(%q: !fuseops.quantized<200x300xf8E4M3FN, scale = mx<1x32>, copies = row>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E4M3FN, scale = mx<1x32>, copies = row>) -> (tensor<200x300xf8E4M3FN>, tensor<200x10xf8E8M0FNU>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<200x300xf8E4M3FN>, tensor<200x10xf8E8M0FNU>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = mx<1x32>, copies = row>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E4M3FN_mx_1x32_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E4M3FN, scale = mx<1x32>, copies = col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E4M3FN, scale = mx<1x32>, copies = col>) -> (tensor<300x200xf8E4M3FN>, tensor<300x7xf8E8M0FNU>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<300x200xf8E4M3FN>, tensor<300x7xf8E8M0FNU>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = mx<1x32>, copies = col>
fuseops.fusible @f8E4M3FN_mx_1x32_col(%q: !fuseops.quantized<200x300xf8E4M3FN, scale = mx<1x32>, copies = col>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E4M3FN, scale = mx<1x32>, copies = col>) -> (tensor<300x200xf8E4M3FN>, tensor<300x7xf8E8M0FNU>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<300x200xf8E4M3FN>, tensor<300x7xf8E8M0FNU>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = mx<1x32>, copies = col>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E4M3FN_mx_1x32_row_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E4M3FN, scale = mx<1x32>, copies = row_col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:4 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E4M3FN, scale = mx<1x32>, copies = row_col>) -> (tensor<200x300xf8E4M3FN>, tensor<200x10xf8E8M0FNU>, tensor<300x200xf8E4M3FN>, tensor<300x7xf8E8M0FNU>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1, %[[P]]#2, %[[P]]#3 : (tensor<200x300xf8E4M3FN>, tensor<200x10xf8E8M0FNU>, tensor<300x200xf8E4M3FN>, tensor<300x7xf8E8M0FNU>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = mx<1x32>, copies = row_col>
fuseops.fusible @f8E4M3FN_mx_1x32_row_col(%q: !fuseops.quantized<200x300xf8E4M3FN, scale = mx<1x32>, copies = row_col>)
forward {
  %p:4 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E4M3FN, scale = mx<1x32>, copies = row_col>) -> (tensor<200x300xf8E4M3FN>, tensor<200x10xf8E8M0FNU>, tensor<300x200xf8E4M3FN>, tensor<300x7xf8E8M0FNU>)
  %r = fuseops.pack_quantized %p#0, %p#1, %p#2, %p#3 : (tensor<200x300xf8E4M3FN>, tensor<200x10xf8E8M0FNU>, tensor<300x200xf8E4M3FN>, tensor<300x7xf8E8M0FNU>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = mx<1x32>, copies = row_col>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E5M2_per_tensor_row(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E5M2, scale = per_tensor, copies = row>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E5M2, scale = per_tensor, copies = row>) -> (tensor<200x300xf8E5M2>, tensor<f32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<200x300xf8E5M2>, tensor<f32>) -> !fuseops.quantized<200x300xf8E5M2, scale = per_tensor, copies = row>
fuseops.fusible @f8E5M2_per_tensor_row(%q: !fuseops.quantized<200x300xf8E5M2, scale = per_tensor, copies = row>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E5M2, scale = per_tensor, copies = row>) -> (tensor<200x300xf8E5M2>, tensor<f32>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<200x300xf8E5M2>, tensor<f32>) -> !fuseops.quantized<200x300xf8E5M2, scale = per_tensor, copies = row>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E5M2_per_tensor_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E5M2, scale = per_tensor, copies = col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E5M2, scale = per_tensor, copies = col>) -> (tensor<300x200xf8E5M2>, tensor<f32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<300x200xf8E5M2>, tensor<f32>) -> !fuseops.quantized<200x300xf8E5M2, scale = per_tensor, copies = col>
fuseops.fusible @f8E5M2_per_tensor_col(%q: !fuseops.quantized<200x300xf8E5M2, scale = per_tensor, copies = col>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E5M2, scale = per_tensor, copies = col>) -> (tensor<300x200xf8E5M2>, tensor<f32>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<300x200xf8E5M2>, tensor<f32>) -> !fuseops.quantized<200x300xf8E5M2, scale = per_tensor, copies = col>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E5M2_per_tensor_row_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E5M2, scale = per_tensor, copies = row_col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:4 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E5M2, scale = per_tensor, copies = row_col>) -> (tensor<200x300xf8E5M2>, tensor<f32>, tensor<300x200xf8E5M2>, tensor<f32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1, %[[P]]#2, %[[P]]#3 : (tensor<200x300xf8E5M2>, tensor<f32>, tensor<300x200xf8E5M2>, tensor<f32>) -> !fuseops.quantized<200x300xf8E5M2, scale = per_tensor, copies = row_col>
fuseops.fusible @f8E5M2_per_tensor_row_col(%q: !fuseops.quantized<200x300xf8E5M2, scale = per_tensor, copies = row_col>)
forward {
  %p:4 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E5M2, scale = per_tensor, copies = row_col>) -> (tensor<200x300xf8E5M2>, tensor<f32>, tensor<300x200xf8E5M2>, tensor<f32>)
  %r = fuseops.pack_quantized %p#0, %p#1, %p#2, %p#3 : (tensor<200x300xf8E5M2>, tensor<f32>, tensor<300x200xf8E5M2>, tensor<f32>) -> !fuseops.quantized<200x300xf8E5M2, scale = per_tensor, copies = row_col>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E5M2_per_row_row(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<?x300xf8E5M2, scale = per_row, copies = row>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<?x300xf8E5M2, scale = per_row, copies = row>) -> (tensor<?x300xf8E5M2>, tensor<?x1xf32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<?x300xf8E5M2>, tensor<?x1xf32>) -> !fuseops.quantized<?x300xf8E5M2, scale = per_row, copies = row>
fuseops.fusible @f8E5M2_per_row_row(%q: !fuseops.quantized<?x300xf8E5M2, scale = per_row, copies = row>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<?x300xf8E5M2, scale = per_row, copies = row>) -> (tensor<?x300xf8E5M2>, tensor<?x1xf32>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<?x300xf8E5M2>, tensor<?x1xf32>) -> !fuseops.quantized<?x300xf8E5M2, scale = per_row, copies = row>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E5M2_per_row_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E5M2, scale = per_row, copies = col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E5M2, scale = per_row, copies = col>) -> (tensor<300x200xf8E5M2>, tensor<300x1xf32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<300x200xf8E5M2>, tensor<300x1xf32>) -> !fuseops.quantized<200x300xf8E5M2, scale = per_row, copies = col>
fuseops.fusible @f8E5M2_per_row_col(%q: !fuseops.quantized<200x300xf8E5M2, scale = per_row, copies = col>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E5M2, scale = per_row, copies = col>) -> (tensor<300x200xf8E5M2>, tensor<300x1xf32>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<300x200xf8E5M2>, tensor<300x1xf32>) -> !fuseops.quantized<200x300xf8E5M2, scale = per_row, copies = col>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E5M2_per_row_row_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E5M2, scale = per_row, copies = row_col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:4 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E5M2, scale = per_row, copies = row_col>) -> (tensor<200x300xf8E5M2>, tensor<200x1xf32>, tensor<300x200xf8E5M2>, tensor<300x1xf32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1, %[[P]]#2, %[[P]]#3 : (tensor<200x300xf8E5M2>, tensor<200x1xf32>, tensor<300x200xf8E5M2>, tensor<300x1xf32>) -> !fuseops.quantized<200x300xf8E5M2, scale = per_row, copies = row_col>
fuseops.fusible @f8E5M2_per_row_row_col(%q: !fuseops.quantized<200x300xf8E5M2, scale = per_row, copies = row_col>)
forward {
  %p:4 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E5M2, scale = per_row, copies = row_col>) -> (tensor<200x300xf8E5M2>, tensor<200x1xf32>, tensor<300x200xf8E5M2>, tensor<300x1xf32>)
  %r = fuseops.pack_quantized %p#0, %p#1, %p#2, %p#3 : (tensor<200x300xf8E5M2>, tensor<200x1xf32>, tensor<300x200xf8E5M2>, tensor<300x1xf32>) -> !fuseops.quantized<200x300xf8E5M2, scale = per_row, copies = row_col>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E5M2_block_1x128_row(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E5M2, scale = block<1x128>, copies = row>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E5M2, scale = block<1x128>, copies = row>) -> (tensor<200x300xf8E5M2>, tensor<3x200xf32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<200x300xf8E5M2>, tensor<3x200xf32>) -> !fuseops.quantized<200x300xf8E5M2, scale = block<1x128>, copies = row>
fuseops.fusible @f8E5M2_block_1x128_row(%q: !fuseops.quantized<200x300xf8E5M2, scale = block<1x128>, copies = row>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E5M2, scale = block<1x128>, copies = row>) -> (tensor<200x300xf8E5M2>, tensor<3x200xf32>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<200x300xf8E5M2>, tensor<3x200xf32>) -> !fuseops.quantized<200x300xf8E5M2, scale = block<1x128>, copies = row>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E5M2_block_1x128_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E5M2, scale = block<1x128>, copies = col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E5M2, scale = block<1x128>, copies = col>) -> (tensor<300x200xf8E5M2>, tensor<2x300xf32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<300x200xf8E5M2>, tensor<2x300xf32>) -> !fuseops.quantized<200x300xf8E5M2, scale = block<1x128>, copies = col>
fuseops.fusible @f8E5M2_block_1x128_col(%q: !fuseops.quantized<200x300xf8E5M2, scale = block<1x128>, copies = col>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E5M2, scale = block<1x128>, copies = col>) -> (tensor<300x200xf8E5M2>, tensor<2x300xf32>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<300x200xf8E5M2>, tensor<2x300xf32>) -> !fuseops.quantized<200x300xf8E5M2, scale = block<1x128>, copies = col>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E5M2_block_1x128_row_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E5M2, scale = block<1x128>, copies = row_col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:4 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E5M2, scale = block<1x128>, copies = row_col>) -> (tensor<200x300xf8E5M2>, tensor<3x200xf32>, tensor<300x200xf8E5M2>, tensor<2x300xf32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1, %[[P]]#2, %[[P]]#3 : (tensor<200x300xf8E5M2>, tensor<3x200xf32>, tensor<300x200xf8E5M2>, tensor<2x300xf32>) -> !fuseops.quantized<200x300xf8E5M2, scale = block<1x128>, copies = row_col>
fuseops.fusible @f8E5M2_block_1x128_row_col(%q: !fuseops.quantized<200x300xf8E5M2, scale = block<1x128>, copies = row_col>)
forward {
  %p:4 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E5M2, scale = block<1x128>, copies = row_col>) -> (tensor<200x300xf8E5M2>, tensor<3x200xf32>, tensor<300x200xf8E5M2>, tensor<2x300xf32>)
  %r = fuseops.pack_quantized %p#0, %p#1, %p#2, %p#3 : (tensor<200x300xf8E5M2>, tensor<3x200xf32>, tensor<300x200xf8E5M2>, tensor<2x300xf32>) -> !fuseops.quantized<200x300xf8E5M2, scale = block<1x128>, copies = row_col>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E5M2_block_128x128_row(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E5M2, scale = block<128x128>, copies = row>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E5M2, scale = block<128x128>, copies = row>) -> (tensor<200x300xf8E5M2>, tensor<2x4xf32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<200x300xf8E5M2>, tensor<2x4xf32>) -> !fuseops.quantized<200x300xf8E5M2, scale = block<128x128>, copies = row>
fuseops.fusible @f8E5M2_block_128x128_row(%q: !fuseops.quantized<200x300xf8E5M2, scale = block<128x128>, copies = row>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E5M2, scale = block<128x128>, copies = row>) -> (tensor<200x300xf8E5M2>, tensor<2x4xf32>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<200x300xf8E5M2>, tensor<2x4xf32>) -> !fuseops.quantized<200x300xf8E5M2, scale = block<128x128>, copies = row>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E5M2_block_128x128_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E5M2, scale = block<128x128>, copies = col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E5M2, scale = block<128x128>, copies = col>) -> (tensor<300x200xf8E5M2>, tensor<3x4xf32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<300x200xf8E5M2>, tensor<3x4xf32>) -> !fuseops.quantized<200x300xf8E5M2, scale = block<128x128>, copies = col>
fuseops.fusible @f8E5M2_block_128x128_col(%q: !fuseops.quantized<200x300xf8E5M2, scale = block<128x128>, copies = col>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E5M2, scale = block<128x128>, copies = col>) -> (tensor<300x200xf8E5M2>, tensor<3x4xf32>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<300x200xf8E5M2>, tensor<3x4xf32>) -> !fuseops.quantized<200x300xf8E5M2, scale = block<128x128>, copies = col>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E5M2_block_128x128_row_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E5M2, scale = block<128x128>, copies = row_col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:4 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E5M2, scale = block<128x128>, copies = row_col>) -> (tensor<200x300xf8E5M2>, tensor<2x4xf32>, tensor<300x200xf8E5M2>, tensor<3x4xf32>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1, %[[P]]#2, %[[P]]#3 : (tensor<200x300xf8E5M2>, tensor<2x4xf32>, tensor<300x200xf8E5M2>, tensor<3x4xf32>) -> !fuseops.quantized<200x300xf8E5M2, scale = block<128x128>, copies = row_col>
fuseops.fusible @f8E5M2_block_128x128_row_col(%q: !fuseops.quantized<200x300xf8E5M2, scale = block<128x128>, copies = row_col>)
forward {
  %p:4 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E5M2, scale = block<128x128>, copies = row_col>) -> (tensor<200x300xf8E5M2>, tensor<2x4xf32>, tensor<300x200xf8E5M2>, tensor<3x4xf32>)
  %r = fuseops.pack_quantized %p#0, %p#1, %p#2, %p#3 : (tensor<200x300xf8E5M2>, tensor<2x4xf32>, tensor<300x200xf8E5M2>, tensor<3x4xf32>) -> !fuseops.quantized<200x300xf8E5M2, scale = block<128x128>, copies = row_col>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E5M2_mx_1x32_row(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E5M2, scale = mx<1x32>, copies = row>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E5M2, scale = mx<1x32>, copies = row>) -> (tensor<200x300xf8E5M2>, tensor<200x10xf8E8M0FNU>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<200x300xf8E5M2>, tensor<200x10xf8E8M0FNU>) -> !fuseops.quantized<200x300xf8E5M2, scale = mx<1x32>, copies = row>
fuseops.fusible @f8E5M2_mx_1x32_row(%q: !fuseops.quantized<200x300xf8E5M2, scale = mx<1x32>, copies = row>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E5M2, scale = mx<1x32>, copies = row>) -> (tensor<200x300xf8E5M2>, tensor<200x10xf8E8M0FNU>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<200x300xf8E5M2>, tensor<200x10xf8E8M0FNU>) -> !fuseops.quantized<200x300xf8E5M2, scale = mx<1x32>, copies = row>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E5M2_mx_1x32_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E5M2, scale = mx<1x32>, copies = col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E5M2, scale = mx<1x32>, copies = col>) -> (tensor<300x200xf8E5M2>, tensor<300x7xf8E8M0FNU>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1 : (tensor<300x200xf8E5M2>, tensor<300x7xf8E8M0FNU>) -> !fuseops.quantized<200x300xf8E5M2, scale = mx<1x32>, copies = col>
fuseops.fusible @f8E5M2_mx_1x32_col(%q: !fuseops.quantized<200x300xf8E5M2, scale = mx<1x32>, copies = col>)
forward {
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E5M2, scale = mx<1x32>, copies = col>) -> (tensor<300x200xf8E5M2>, tensor<300x7xf8E8M0FNU>)
  %r = fuseops.pack_quantized %p#0, %p#1 : (tensor<300x200xf8E5M2>, tensor<300x7xf8E8M0FNU>) -> !fuseops.quantized<200x300xf8E5M2, scale = mx<1x32>, copies = col>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @f8E5M2_mx_1x32_row_col(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<200x300xf8E5M2, scale = mx<1x32>, copies = row_col>)
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[P:.+]]:4 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<200x300xf8E5M2, scale = mx<1x32>, copies = row_col>) -> (tensor<200x300xf8E5M2>, tensor<200x10xf8E8M0FNU>, tensor<300x200xf8E5M2>, tensor<300x7xf8E8M0FNU>)
// CHECK-NEXT: fuseops.pack_quantized %[[P]]#0, %[[P]]#1, %[[P]]#2, %[[P]]#3 : (tensor<200x300xf8E5M2>, tensor<200x10xf8E8M0FNU>, tensor<300x200xf8E5M2>, tensor<300x7xf8E8M0FNU>) -> !fuseops.quantized<200x300xf8E5M2, scale = mx<1x32>, copies = row_col>
fuseops.fusible @f8E5M2_mx_1x32_row_col(%q: !fuseops.quantized<200x300xf8E5M2, scale = mx<1x32>, copies = row_col>)
forward {
  %p:4 = fuseops.unpack_quantized %q : (!fuseops.quantized<200x300xf8E5M2, scale = mx<1x32>, copies = row_col>) -> (tensor<200x300xf8E5M2>, tensor<200x10xf8E8M0FNU>, tensor<300x200xf8E5M2>, tensor<300x7xf8E8M0FNU>)
  %r = fuseops.pack_quantized %p#0, %p#1, %p#2, %p#3 : (tensor<200x300xf8E5M2>, tensor<200x10xf8E8M0FNU>, tensor<300x200xf8E5M2>, tensor<300x7xf8E8M0FNU>) -> !fuseops.quantized<200x300xf8E5M2, scale = mx<1x32>, copies = row_col>
  fuseops.return
}
