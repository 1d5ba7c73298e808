// RUN: fuse-opt %s --fuseops-expand-quantized | FileCheck %s

// The row copy, or the transposed one where there is no other (fp8_c3). The scales are
// taken out of their layout and spread over the elements.
// CHECK-LABEL: fuseops.fusible @fp8_r5_per_row_row(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x200xf8E5M2>, %[[ARG1:.+]]: tensor<?x1xf32>) -> tensor<?x200xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<?x200xf8E5M2>, tensor<?x1xf32>) -> tensor<?x200xbf16> {
// CHECK-NEXT:     %[[V1:.+]] = arith.mulf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x200xbf16>
// CHECK-NEXT: }
fuseops.fusible @fp8_r5_per_row_row(%q: !fuseops.quantized<?x200xf8E5M2, scale = per_row, copies = row>) -> tensor<?x200xbf16>
forward {
  %x = fuseops.dequantize %q : !fuseops.quantized<?x200xf8E5M2, scale = per_row, copies = row> -> tensor<?x200xbf16>
  fuseops.return %x : tensor<?x200xbf16>
}

// CHECK-LABEL: fuseops.fusible @fp8_r5_per_row_col(
// CHECK-SAME: %[[ARG0:.+]]: tensor<200x?xf8E5M2>, %[[ARG1:.+]]: tensor<200x1xf32>) -> tensor<?x200xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.permute %[[ARG0]] order[1, 0] : tensor<200x?xf8E5M2> -> tensor<?x200xf8E5M2>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reshape %[[ARG1]] : tensor<200x1xf32> -> tensor<200xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[V0]], %[[ARG3:.+]] = %[[V1]]) : (tensor<?x200xf8E5M2>, tensor<200xf32>) -> tensor<?x200xbf16> {
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<?x200xbf16>
// CHECK-NEXT: }
fuseops.fusible @fp8_r5_per_row_col(%q: !fuseops.quantized<?x200xf8E5M2, scale = per_row, copies = col>) -> tensor<?x200xbf16>
forward {
  %x = fuseops.dequantize %q : !fuseops.quantized<?x200xf8E5M2, scale = per_row, copies = col> -> tensor<?x200xbf16>
  fuseops.return %x : tensor<?x200xbf16>
}

// CHECK-LABEL: fuseops.fusible @fp8_r5_block_1x128_row(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x200xf8E5M2>, %[[ARG1:.+]]: tensor<2x?xf32>) -> tensor<?x200xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.permute %[[ARG1]] order[1, 0] : tensor<2x?xf32> -> tensor<?x2xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.expand_blocks %[[V0]] block(1, 128) : tensor<?x2xf32> -> tensor<?x200xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[V1]]) : (tensor<?x200xf8E5M2>, tensor<?x200xf32>) -> tensor<?x200xbf16> {
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<?x200xbf16>
// CHECK-NEXT: }
fuseops.fusible @fp8_r5_block_1x128_row(%q: !fuseops.quantized<?x200xf8E5M2, scale = block<1x128>, copies = row>) -> tensor<?x200xbf16>
forward {
  %x = fuseops.dequantize %q : !fuseops.quantized<?x200xf8E5M2, scale = block<1x128>, copies = row> -> tensor<?x200xbf16>
  fuseops.return %x : tensor<?x200xbf16>
}

// CHECK-LABEL: fuseops.fusible @fp8_r5_block_1x128_col(
// CHECK-SAME: %[[ARG0:.+]]: tensor<200x?xf8E5M2>, %[[ARG1:.+]]: tensor<?x200xf32, #fuseops.blocks<128>>) -> tensor<?x200xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.permute %[[ARG0]] order[1, 0] : tensor<200x?xf8E5M2> -> tensor<?x200xf8E5M2>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.expand_blocks %[[ARG1]] block(128, 1) : tensor<?x200xf32, #fuseops.blocks<128>> -> tensor<?x200xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[V0]], %[[ARG3:.+]] = %[[V1]]) : (tensor<?x200xf8E5M2>, tensor<?x200xf32>) -> tensor<?x200xbf16> {
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<?x200xbf16>
// CHECK-NEXT: }
fuseops.fusible @fp8_r5_block_1x128_col(%q: !fuseops.quantized<?x200xf8E5M2, scale = block<1x128>, copies = col>) -> tensor<?x200xbf16>
forward {
  %x = fuseops.dequantize %q : !fuseops.quantized<?x200xf8E5M2, scale = block<1x128>, copies = col> -> tensor<?x200xbf16>
  fuseops.return %x : tensor<?x200xbf16>
}

// CHECK-LABEL: fuseops.fusible @fp8_r5_block_128x128_row(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x200xf8E5M2>, %[[ARG1:.+]]: tensor<?x4xf32, #fuseops.blocks<128>>) -> tensor<?x200xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.slice %[[ARG1]] dim(1) offset(0) : tensor<?x4xf32, #fuseops.blocks<128>> -> tensor<?x2xf32, #fuseops.blocks<128>>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.expand_blocks %[[V0]] block(128, 128) : tensor<?x2xf32, #fuseops.blocks<128>> -> tensor<?x200xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[V1]]) : (tensor<?x200xf8E5M2>, tensor<?x200xf32>) -> tensor<?x200xbf16> {
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<?x200xbf16>
// CHECK-NEXT: }
fuseops.fusible @fp8_r5_block_128x128_row(%q: !fuseops.quantized<?x200xf8E5M2, scale = block<128x128>, copies = row>) -> tensor<?x200xbf16>
forward {
  %x = fuseops.dequantize %q : !fuseops.quantized<?x200xf8E5M2, scale = block<128x128>, copies = row> -> tensor<?x200xbf16>
  fuseops.return %x : tensor<?x200xbf16>
}

// CHECK-LABEL: fuseops.fusible @fp8_r5_block_128x128_col(
// CHECK-SAME: %[[ARG0:.+]]: tensor<200x?xf8E5M2>, %[[ARG1:.+]]: tensor<2x?xf32, #fuseops.blocks<128>>) -> tensor<?x200xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.permute %[[ARG0]] order[1, 0] : tensor<200x?xf8E5M2> -> tensor<?x200xf8E5M2>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.permute %[[ARG1]] order[1, 0] : tensor<2x?xf32, #fuseops.blocks<128>> -> tensor<?x2xf32, #fuseops.blocks<128>>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.expand_blocks %[[V1]] block(128, 128) : tensor<?x2xf32, #fuseops.blocks<128>> -> tensor<?x200xf32>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[V0]], %[[ARG3:.+]] = %[[V2]]) : (tensor<?x200xf8E5M2>, tensor<?x200xf32>) -> tensor<?x200xbf16> {
// CHECK-NEXT:     %[[V4:.+]] = arith.mulf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V4]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V3]] : tensor<?x200xbf16>
// CHECK-NEXT: }
fuseops.fusible @fp8_r5_block_128x128_col(%q: !fuseops.quantized<?x200xf8E5M2, scale = block<128x128>, copies = col>) -> tensor<?x200xbf16>
forward {
  %x = fuseops.dequantize %q : !fuseops.quantized<?x200xf8E5M2, scale = block<128x128>, copies = col> -> tensor<?x200xbf16>
  fuseops.return %x : tensor<?x200xbf16>
}

// CHECK-LABEL: fuseops.fusible @fp8_r5_mx_row(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x200xf8E5M2>, %[[ARG1:.+]]: tensor<?x7xf8E8M0FNU>) -> tensor<?x200xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.expand_blocks %[[ARG1]] block(1, 32) : tensor<?x7xf8E8M0FNU> -> tensor<?x200xf8E8M0FNU>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[V0]]) : (tensor<?x200xf8E5M2>, tensor<?x200xf8E8M0FNU>) -> tensor<?x200xbf16> {
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V2]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<?x200xbf16>
// CHECK-NEXT: }
fuseops.fusible @fp8_r5_mx_row(%q: !fuseops.quantized<?x200xf8E5M2, scale = mx<1x32>, copies = row>) -> tensor<?x200xbf16>
forward {
  %x = fuseops.dequantize %q : !fuseops.quantized<?x200xf8E5M2, scale = mx<1x32>, copies = row> -> tensor<?x200xbf16>
  fuseops.return %x : tensor<?x200xbf16>
}

// CHECK-LABEL: fuseops.fusible @fp8_r5_mx_col(
// CHECK-SAME: %[[ARG0:.+]]: tensor<200x?xf8E5M2>, %[[ARG1:.+]]: tensor<200x?xf8E8M0FNU, #fuseops.blocks<32>>) -> tensor<?x200xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.permute %[[ARG0]] order[1, 0] : tensor<200x?xf8E5M2> -> tensor<?x200xf8E5M2>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.permute %[[ARG1]] order[1, 0] : tensor<200x?xf8E8M0FNU, #fuseops.blocks<32>> -> tensor<?x200xf8E8M0FNU, #fuseops.blocks<32>>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.expand_blocks %[[V1]] block(32, 1) : tensor<?x200xf8E8M0FNU, #fuseops.blocks<32>> -> tensor<?x200xf8E8M0FNU>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[V0]], %[[ARG3:.+]] = %[[V2]]) : (tensor<?x200xf8E5M2>, tensor<?x200xf8E8M0FNU>) -> tensor<?x200xbf16> {
// CHECK-NEXT:     %[[V4:.+]] = arith.mulf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V4]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V3]] : tensor<?x200xbf16>
// CHECK-NEXT: }
fuseops.fusible @fp8_r5_mx_col(%q: !fuseops.quantized<?x200xf8E5M2, scale = mx<1x32>, copies = col>) -> tensor<?x200xbf16>
forward {
  %x = fuseops.dequantize %q : !fuseops.quantized<?x200xf8E5M2, scale = mx<1x32>, copies = col> -> tensor<?x200xbf16>
  fuseops.return %x : tensor<?x200xbf16>
}

// The zeros that pad are no scales.
// CHECK-LABEL: fuseops.fusible @fp8_c3_both_copies(
// CHECK-SAME: %[[ARG0:.+]]: tensor<200x300xf8E4M3FN>, %[[ARG1:.+]]: tensor<2x4xf32>, %[[ARG2:.+]]: tensor<300x200xf8E4M3FN>, %[[ARG3:.+]]: tensor<3x4xf32>) -> tensor<200x300xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.slice %[[ARG1]] dim(1) offset(0) : tensor<2x4xf32> -> tensor<2x3xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.expand_blocks %[[V0]] block(128, 128) : tensor<2x3xf32> -> tensor<200x300xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.pointwise (%[[ARG4:.+]] = %[[ARG0]], %[[ARG5:.+]] = %[[V1]]) : (tensor<200x300xf8E4M3FN>, tensor<200x300xf32>) -> tensor<200x300xbf16> {
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[ARG4]], %[[ARG5]] : f32
// CHECK-NEXT:     fuseops.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<200x300xbf16>
// CHECK-NEXT: }
fuseops.fusible @fp8_c3_both_copies(%q: !fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = row_col>) -> tensor<200x300xbf16>
forward {
  %x = fuseops.dequantize %q : !fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = row_col> -> tensor<200x300xbf16>
  fuseops.return %x : tensor<200x300xbf16>
}
