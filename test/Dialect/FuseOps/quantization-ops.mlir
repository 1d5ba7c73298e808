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
