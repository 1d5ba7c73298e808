// RUN: fuse-opt %s | fuse-opt | FileCheck %s
// RUN: fuse-opt %s --mlir-print-op-generic | fuse-opt | FileCheck %s

// Known rows: the number of blocks is known too.
// CHECK-LABEL: fuseops.fusible @blocks_of_known_rows(
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[A:.+]] = fuseops.reduce_blocks %{{.+}} block(128, 128) : tensor<300x129xf32> -> tensor<3x2xf32>
// CHECK-NEXT:   %[[B:.+]] = fuseops.expand_blocks %[[A]] block(128, 128) : tensor<3x2xf32> -> tensor<300x129xf32>
// CHECK-NEXT:   fuseops.return %[[B]] : tensor<300x129xf32>
fuseops.fusible @blocks_of_known_rows(%x: tensor<300x129xf32>) -> tensor<300x129xf32>
forward {
  %a = fuseops.reduce_blocks %x block(128, 128) : tensor<300x129xf32> -> tensor<3x2xf32>
  %b = fuseops.expand_blocks %a block(128, 128) : tensor<3x2xf32> -> tensor<300x129xf32>
  fuseops.return %b : tensor<300x129xf32>
}

// Blocks of one row are as many as the rows; of more the type says what its `?`
// counts, and permuting keeps it.
// CHECK-LABEL: fuseops.fusible @blocks_of_symbolic_rows(
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.reduce_blocks %{{.+}} block(1, 32) : tensor<?x33xf32> -> tensor<?x2xf32>
// CHECK-NEXT:   %[[A:.+]] = fuseops.reduce_blocks %{{.+}} block(32, 1) : tensor<?x33xf32> -> tensor<?x33xf32, #fuseops.blocks<32>>
// CHECK-NEXT:   %[[B:.+]] = fuseops.permute %[[A]] order[1, 0] : tensor<?x33xf32, #fuseops.blocks<32>> -> tensor<33x?xf32, #fuseops.blocks<32>>
// CHECK-NEXT:   fuseops.return %[[B]] : tensor<33x?xf32, #fuseops.blocks<32>>
fuseops.fusible @blocks_of_symbolic_rows(%x: tensor<?x33xf32>) -> tensor<33x?xf32, #fuseops.blocks<32>>
forward {
  %r = fuseops.reduce_blocks %x block(1, 32) : tensor<?x33xf32> -> tensor<?x2xf32>
  %a = fuseops.reduce_blocks %x block(32, 1) : tensor<?x33xf32> -> tensor<?x33xf32, #fuseops.blocks<32>>
  %b = fuseops.permute %a order[1, 0] : tensor<?x33xf32, #fuseops.blocks<32>> -> tensor<33x?xf32, #fuseops.blocks<32>>
  fuseops.return %b : tensor<33x?xf32, #fuseops.blocks<32>>
}

// Scales of blocks may be of any element type.
// CHECK-LABEL: fuseops.fusible @mx_scales(
// CHECK: fuseops.expand_blocks %{{.+}} block(1, 32) : tensor<?x3xf8E8M0FNU> -> tensor<?x65xf8E8M0FNU>
fuseops.fusible @mx_scales(%s: tensor<?x3xf8E8M0FNU>) -> tensor<?x65xf8E8M0FNU>
forward {
  %b = fuseops.expand_blocks %s block(1, 32) : tensor<?x3xf8E8M0FNU> -> tensor<?x65xf8E8M0FNU>
  fuseops.return %b : tensor<?x65xf8E8M0FNU>
}

// CHECK-LABEL: fuseops.fusible @delayed(
// CHECK-NEXT: forward {
// CHECK-NEXT:   %{{.+}}, %{{.+}} = fuseops.update_scale %{{.+}}, %{{.+}}, %{{.+}} format(f8E4M3FN) : tensor<3xf32>, tensor<16x3xf32>
// CHECK-NEXT:   %{{.+}}, %{{.+}} = fuseops.update_scale %{{.+}}, %{{.+}}, %{{.+}} format(f8E5M2) most_recent {margin = 2 : i64} : tensor<3xf32>, tensor<16x3xf32>
fuseops.fusible @delayed(%s: tensor<3xf32>, %h: tensor<16x3xf32>, %a: tensor<3xf32>)
forward {
  %s0, %h0 = fuseops.update_scale %s, %h, %a format(f8E4M3FN) : tensor<3xf32>, tensor<16x3xf32>
  %s1, %h1 = fuseops.update_scale %s, %h, %a format(f8E5M2) most_recent {margin = 2 : i64} : tensor<3xf32>, tensor<16x3xf32>
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @how_scales_are_computed(
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.quantize %{{.+}} {epsilon = 1.000000e-03 : f32, power_of_two} : (tensor<?x64xbf16>) -> !fuseops.quantized<?x64xf8E4M3FN, scale = block<1x128>, copies = row_col>
// CHECK-NEXT:   fuseops.compute_scale %{{.+}} format(f8E5M2) power_of_two {epsilon = 1.000000e-03 : f32} : tensor<f32>
fuseops.fusible @how_scales_are_computed(%x: tensor<?x64xbf16>, %a: tensor<f32>)
forward {
  %q = fuseops.quantize %x {power_of_two, epsilon = 1.0e-3 : f32} : (tensor<?x64xbf16>) -> !fuseops.quantized<?x64xf8E4M3FN, scale = block<1x128>, copies = row_col>
  %s = fuseops.compute_scale %a format(f8E5M2) power_of_two {epsilon = 1.0e-3 : f32} : tensor<f32>
  fuseops.return
}

// Every scale kind, also as an attribute of the generic form.
// CHECK-LABEL: fuseops.fusible @scaled_products(
// CHECK:       fuseops.scaled_matmul %{{.+}}[%{{.+}}] per_tensor, %{{.+}}[%{{.+}}] per_tensor :
// CHECK-NEXT:  fuseops.scaled_matmul %{{.+}}[%{{.+}}] per_row, %{{.+}}[%{{.+}}] per_row bias(%{{.+}}) :
// CHECK-NEXT:  fuseops.scaled_matmul %{{.+}}[%{{.+}}] block<1x128>, %{{.+}}[%{{.+}}] block<128x128> :
// CHECK-NEXT:  fuseops.scaled_matmul %{{.+}}[%{{.+}}] block<128x128>, %{{.+}}[%{{.+}}] block<1x128> :
// CHECK-NEXT:  fuseops.scaled_matmul %{{.+}}[%{{.+}}] mx<1x32>, %{{.+}}[%{{.+}}] mx<1x32> :
fuseops.fusible @scaled_products(%a: tensor<?x256xf8E4M3FN>, %b: tensor<384x256xf8E4M3FN>, %bias: tensor<384xf32>, %one: tensor<f32>, %ar: tensor<?x1xf32>, %br: tensor<384x1xf32>, %ab: tensor<2x?xf32>, %bb: tensor<3x4xf32>, %c: tensor<256x256xf8E5M2>, %cb: tensor<2x4xf32>, %bk: tensor<2x384xf32>, %am: tensor<?x8xf8E8M0FNU>, %bm: tensor<384x8xf8E8M0FNU>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>, tensor<?x384xbf16>, tensor<256x384xbf16>, tensor<?x384xbf16>)
forward {
  %t = fuseops.scaled_matmul %a[%one] per_tensor, %b[%one] per_tensor : (tensor<?x256xf8E4M3FN>, tensor<f32>, tensor<384x256xf8E4M3FN>, tensor<f32>) -> tensor<?x384xbf16>
  %r = fuseops.scaled_matmul %a[%ar] per_row, %b[%br] per_row bias(%bias) : (tensor<?x256xf8E4M3FN>, tensor<?x1xf32>, tensor<384x256xf8E4M3FN>, tensor<384x1xf32>, tensor<384xf32>) -> tensor<?x384xbf16>
  %s = fuseops.scaled_matmul %a[%ab] block<1x128>, %b[%bb] block<128x128> : (tensor<?x256xf8E4M3FN>, tensor<2x?xf32>, tensor<384x256xf8E4M3FN>, tensor<3x4xf32>) -> tensor<?x384xbf16>
  %u = fuseops.scaled_matmul %c[%cb] block<128x128>, %b[%bk] block<1x128> : (tensor<256x256xf8E5M2>, tensor<2x4xf32>, tensor<384x256xf8E4M3FN>, tensor<2x384xf32>) -> tensor<256x384xbf16>
  %m = fuseops.scaled_matmul %a[%am] mx<1x32>, %b[%bm] mx<1x32> : (tensor<?x256xf8E4M3FN>, tensor<?x8xf8E8M0FNU>, tensor<384x256xf8E4M3FN>, tensor<384x8xf8E8M0FNU>) -> tensor<?x384xbf16>
  fuseops.return %t, %r, %s, %u, %m : tensor<?x384xbf16>, tensor<?x384xbf16>, tensor<?x384xbf16>, tensor<256x384xbf16>, tensor<?x384xbf16>
}
