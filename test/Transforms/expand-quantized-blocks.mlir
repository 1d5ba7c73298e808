// RUN: fuse-opt %s --fuseops-expand-quantized | FileCheck %s

// The transposed copy is the transpose of the data, under the same scale.
// CHECK-LABEL: fuseops.fusible @fp8_c1_per_tensor(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<f32>) -> (tensor<?x8xf8E4M3FN>, tensor<f32>, tensor<8x?xf8E4M3FN>, tensor<f32>) attributes {frozen_results = array<i64: 0, 1, 2, 3>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]]) : (tensor<f32>) -> tensor<f32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.divf %[[CST]], %[[ARG2]] : f32
// CHECK-NEXT:     fuseops.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<?x8xbf16>, tensor<f32>) -> tensor<?x8xf8E4M3FN> {
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant -4.480000e+02 : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.maximumf %[[V3]], %[[CST]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 4.480000e+02 : f32
// CHECK-NEXT:     %[[V5:.+]] = arith.minimumf %[[V4]], %[[CST0]] : f32
// CHECK-NEXT:     fuseops.yield %[[V5]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V2:.+]] = fuseops.permute %[[V1]] order[1, 0] : tensor<?x8xf8E4M3FN> -> tensor<8x?xf8E4M3FN>
// CHECK-NEXT:   fuseops.return %[[V1]], %[[V0]], %[[V2]], %[[V0]] : tensor<?x8xf8E4M3FN>, tensor<f32>, tensor<8x?xf8E4M3FN>, tensor<f32>
// CHECK-NEXT: }
fuseops.fusible @fp8_c1_per_tensor(%x: tensor<?x8xbf16>, %s: tensor<f32>) -> !fuseops.quantized<?x8xf8E4M3FN, scale = per_tensor, copies = row_col>
forward {
  %q = fuseops.quantize %x scale(%s) : (tensor<?x8xbf16>, tensor<f32>) -> !fuseops.quantized<?x8xf8E4M3FN, scale = per_tensor, copies = row_col>
  fuseops.return %q : !fuseops.quantized<?x8xf8E4M3FN, scale = per_tensor, copies = row_col>
}

// Each column has a scale, which is a row of the transposed copy.
// CHECK-LABEL: fuseops.fusible @fp8_c1_per_row(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>) -> (tensor<8x?xf8E5M2>, tensor<8x1xf32>) attributes {frozen_results = array<i64: 0, 1>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<?x8xbf16>) -> tensor<?x8xf32> {
// CHECK-NEXT:     %[[V7:.+]] = math.absf %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V7]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reduce_rows max %[[V0]] : tensor<?x8xf32> -> tensor<8xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V1]]) : (tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 0x7F800000 : f32
// CHECK-NEXT:     %[[CST1:.+]] = arith.constant 5.734400e+04 : f32
// CHECK-NEXT:     %[[V7:.+]] = arith.divf %[[CST1]], %[[ARG1]] : f32
// CHECK-NEXT:     %[[CST2:.+]] = arith.constant 3.40282347E+38 : f32
// CHECK-NEXT:     %[[V8:.+]] = arith.cmpf oeq, %[[V7]], %[[CST0]] : f32
// CHECK-NEXT:     %[[V9:.+]] = arith.select %[[V8]], %[[CST2]], %[[V7]] : f32
// CHECK-NEXT:     %[[CST3:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V10:.+]] = arith.cmpf ogt, %[[ARG1]], %[[CST3]] : f32
// CHECK-NEXT:     %[[V11:.+]] = arith.cmpf olt, %[[ARG1]], %[[CST0]] : f32
// CHECK-NEXT:     %[[V12:.+]] = arith.andi %[[V10]], %[[V11]] : i1
// CHECK-NEXT:     %[[V13:.+]] = arith.select %[[V12]], %[[V9]], %[[CST]] : f32
// CHECK-NEXT:     fuseops.yield %[[V13]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V3:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V2]]) : (tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V7:.+]] = arith.divf %[[CST]], %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V7]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V4:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]], %[[ARG2:.+]] = %[[V2]]) : (tensor<?x8xbf16>, tensor<8xf32>) -> tensor<?x8xf8E5M2> {
// CHECK-NEXT:     %[[V7:.+]] = arith.mulf %[[ARG1]], %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant -5.734400e+04 : f32
// CHECK-NEXT:     %[[V8:.+]] = arith.maximumf %[[V7]], %[[CST]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 5.734400e+04 : f32
// CHECK-NEXT:     %[[V9:.+]] = arith.minimumf %[[V8]], %[[CST0]] : f32
// CHECK-NEXT:     fuseops.yield %[[V9]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V5:.+]] = fuseops.permute %[[V4]] order[1, 0] : tensor<?x8xf8E5M2> -> tensor<8x?xf8E5M2>
// CHECK-NEXT:   %[[V6:.+]] = fuseops.reshape %[[V3]] : tensor<8xf32> -> tensor<8x1xf32>
// CHECK-NEXT:   fuseops.return %[[V5]], %[[V6]] : tensor<8x?xf8E5M2>, tensor<8x1xf32>
// CHECK-NEXT: }
fuseops.fusible @fp8_c1_per_row(%x: tensor<?x8xbf16>) -> !fuseops.quantized<?x8xf8E5M2, scale = per_row, copies = col>
forward {
  %q = fuseops.quantize %x : (tensor<?x8xbf16>) -> !fuseops.quantized<?x8xf8E5M2, scale = per_row, copies = col>
  fuseops.return %q : !fuseops.quantized<?x8xf8E5M2, scale = per_row, copies = col>
}

// Both copies are quantized from the input, with scales of their own: of 1x128
// and of 128x1. Those of rows are stored with the rows last.
// CHECK-LABEL: fuseops.fusible @fp8_c2_block_1x128(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x200xbf16>) -> (tensor<?x200xf8E4M3FN>, tensor<2x?xf32>, tensor<200x?xf8E4M3FN>, tensor<?x200xf32, #fuseops.blocks<128>>) attributes {frozen_results = array<i64: 0, 1, 2, 3>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<?x200xbf16>) -> tensor<?x200xf32> {
// CHECK-NEXT:     %[[V14:.+]] = math.absf %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V14]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reduce_blocks %[[V0]] block(1, 128) : tensor<?x200xf32> -> tensor<?x2xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V1]]) : (tensor<?x2xf32>) -> tensor<?x2xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 0x7F800000 : f32
// CHECK-NEXT:     %[[CST1:.+]] = arith.constant 4.480000e+02 : f32
// CHECK-NEXT:     %[[V14:.+]] = arith.divf %[[CST1]], %[[ARG1]] : f32
// CHECK-NEXT:     %[[CST2:.+]] = arith.constant 3.40282347E+38 : f32
// CHECK-NEXT:     %[[V15:.+]] = arith.cmpf oeq, %[[V14]], %[[CST0]] : f32
// CHECK-NEXT:     %[[V16:.+]] = arith.select %[[V15]], %[[CST2]], %[[V14]] : f32
// CHECK-NEXT:     %[[CST3:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V17:.+]] = arith.cmpf ogt, %[[ARG1]], %[[CST3]] : f32
// CHECK-NEXT:     %[[V18:.+]] = arith.cmpf olt, %[[ARG1]], %[[CST0]] : f32
// CHECK-NEXT:     %[[V19:.+]] = arith.andi %[[V17]], %[[V18]] : i1
// CHECK-NEXT:     %[[V20:.+]] = arith.select %[[V19]], %[[V16]], %[[CST]] : f32
// CHECK-NEXT:     fuseops.yield %[[V20]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V3:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V2]]) : (tensor<?x2xf32>) -> tensor<?x2xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V14:.+]] = arith.divf %[[CST]], %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V14]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V4:.+]] = fuseops.expand_blocks %[[V2]] block(1, 128) : tensor<?x2xf32> -> tensor<?x200xf32>
// CHECK-NEXT:   %[[V5:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]], %[[ARG2:.+]] = %[[V4]]) : (tensor<?x200xbf16>, tensor<?x200xf32>) -> tensor<?x200xf8E4M3FN> {
// CHECK-NEXT:     %[[V14:.+]] = arith.mulf %[[ARG1]], %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant -4.480000e+02 : f32
// CHECK-NEXT:     %[[V15:.+]] = arith.maximumf %[[V14]], %[[CST]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 4.480000e+02 : f32
// CHECK-NEXT:     %[[V16:.+]] = arith.minimumf %[[V15]], %[[CST0]] : f32
// CHECK-NEXT:     fuseops.yield %[[V16]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V6:.+]] = fuseops.permute %[[V3]] order[1, 0] : tensor<?x2xf32> -> tensor<2x?xf32>
// CHECK-NEXT:   %[[V7:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<?x200xbf16>) -> tensor<?x200xf32> {
// CHECK-NEXT:     %[[V14:.+]] = math.absf %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V14]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V8:.+]] = fuseops.reduce_blocks %[[V7]] block(128, 1) : tensor<?x200xf32> -> tensor<?x200xf32, #fuseops.blocks<128>>
// CHECK-NEXT:   %[[V9:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V8]]) : (tensor<?x200xf32, #fuseops.blocks<128>>) -> tensor<?x200xf32, #fuseops.blocks<128>> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 0x7F800000 : f32
// CHECK-NEXT:     %[[CST1:.+]] = arith.constant 4.480000e+02 : f32
// CHECK-NEXT:     %[[V14:.+]] = arith.divf %[[CST1]], %[[ARG1]] : f32
// CHECK-NEXT:     %[[CST2:.+]] = arith.constant 3.40282347E+38 : f32
// CHECK-NEXT:     %[[V15:.+]] = arith.cmpf oeq, %[[V14]], %[[CST0]] : f32
// CHECK-NEXT:     %[[V16:.+]] = arith.select %[[V15]], %[[CST2]], %[[V14]] : f32
// CHECK-NEXT:     %[[CST3:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V17:.+]] = arith.cmpf ogt, %[[ARG1]], %[[CST3]] : f32
// CHECK-NEXT:     %[[V18:.+]] = arith.cmpf olt, %[[ARG1]], %[[CST0]] : f32
// CHECK-NEXT:     %[[V19:.+]] = arith.andi %[[V17]], %[[V18]] : i1
// CHECK-NEXT:     %[[V20:.+]] = arith.select %[[V19]], %[[V16]], %[[CST]] : f32
// CHECK-NEXT:     fuseops.yield %[[V20]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V10:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V9]]) : (tensor<?x200xf32, #fuseops.blocks<128>>) -> tensor<?x200xf32, #fuseops.blocks<128>> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V14:.+]] = arith.divf %[[CST]], %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V14]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V11:.+]] = fuseops.expand_blocks %[[V9]] block(128, 1) : tensor<?x200xf32, #fuseops.blocks<128>> -> tensor<?x200xf32>
// CHECK-NEXT:   %[[V12:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]], %[[ARG2:.+]] = %[[V11]]) : (tensor<?x200xbf16>, tensor<?x200xf32>) -> tensor<?x200xf8E4M3FN> {
// CHECK-NEXT:     %[[V14:.+]] = arith.mulf %[[ARG1]], %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant -4.480000e+02 : f32
// CHECK-NEXT:     %[[V15:.+]] = arith.maximumf %[[V14]], %[[CST]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 4.480000e+02 : f32
// CHECK-NEXT:     %[[V16:.+]] = arith.minimumf %[[V15]], %[[CST0]] : f32
// CHECK-NEXT:     fuseops.yield %[[V16]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V13:.+]] = fuseops.permute %[[V12]] order[1, 0] : tensor<?x200xf8E4M3FN> -> tensor<200x?xf8E4M3FN>
// CHECK-NEXT:   fuseops.return %[[V5]], %[[V6]], %[[V13]], %[[V10]] : tensor<?x200xf8E4M3FN>, tensor<2x?xf32>, tensor<200x?xf8E4M3FN>, tensor<?x200xf32, #fuseops.blocks<128>>
// CHECK-NEXT: }
fuseops.fusible @fp8_c2_block_1x128(%x: tensor<?x200xbf16>) -> !fuseops.quantized<?x200xf8E4M3FN, scale = block<1x128>, copies = row_col>
forward {
  %q = fuseops.quantize %x : (tensor<?x200xbf16>) -> !fuseops.quantized<?x200xf8E4M3FN, scale = block<1x128>, copies = row_col>
  fuseops.return %q : !fuseops.quantized<?x200xf8E4M3FN, scale = block<1x128>, copies = row_col>
}

// One scale for both copies; zeros round its columns up to a multiple of 4.
// Powers of two have no mantissa, and an amax is at least epsilon.
// CHECK-LABEL: fuseops.fusible @fp8_s3_s4_t3_block_128x128(
// CHECK-SAME: %[[ARG0:.+]]: tensor<200x300xf32>) -> (tensor<200x300xf8E4M3FN>, tensor<2x4xf32>, tensor<300x200xf8E4M3FN>, tensor<3x4xf32>) attributes {frozen_results = array<i64: 0, 1, 2, 3>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<200x300xf32>) -> tensor<200x300xf32> {
// CHECK-NEXT:     %[[V12:.+]] = math.absf %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V12]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reduce_blocks %[[V0]] block(128, 128) : tensor<200x300xf32> -> tensor<2x3xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V1]]) : (tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 1.000000e-03 : f32
// CHECK-NEXT:     %[[V12:.+]] = arith.maximumf %[[ARG1]], %[[CST0]] : f32
// CHECK-NEXT:     %[[V13:.+]] = arith.bitcast %[[V12]] : f32 to i32
// CHECK-NEXT:     %[[CARRY:.+]] = arith.constant 2097151 : i32
// CHECK-NEXT:     %[[V14:.+]] = arith.addi %[[V13]], %[[CARRY]] : i32
// CHECK-NEXT:     %[[EXPONENT:.+]] = arith.constant -8388608 : i32
// CHECK-NEXT:     %[[V15:.+]] = arith.andi %[[V14]], %[[EXPONENT]] : i32
// CHECK-NEXT:     %[[TOP:.+]] = arith.constant -2097152000 : i32
// CHECK-NEXT:     %[[V16:.+]] = arith.subi %[[TOP]], %[[V15]] : i32
// CHECK-NEXT:     %[[LARGEST:.+]] = arith.constant 2130706432 : i32
// CHECK-NEXT:     %[[V17:.+]] = arith.minui %[[V16]], %[[LARGEST]] : i32
// CHECK-NEXT:     %[[V18:.+]] = arith.bitcast %[[V17]] : i32 to f32
// CHECK-NEXT:     %[[ONE:.+]] = arith.constant 1 : i32
// CHECK-NEXT:     %[[V19:.+]] = arith.subi %[[V13]], %[[ONE]] : i32
// CHECK-NEXT:     %[[USABLE:.+]] = arith.constant 2139095039 : i32
// CHECK-NEXT:     %[[V20:.+]] = arith.cmpi ult, %[[V19]], %[[USABLE]] : i32
// CHECK-NEXT:     %[[V22:.+]] = arith.select %[[V20]], %[[V18]], %[[CST]] : f32
// CHECK-NEXT:     fuseops.yield %[[V22]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V3:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V2]]) : (tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:     %[[LARGEST:.+]] = arith.constant 2130706432 : i32
// CHECK-NEXT:     %[[V12:.+]] = arith.bitcast %[[ARG1]] : f32 to i32
// CHECK-NEXT:     %[[V13:.+]] = arith.subi %[[LARGEST]], %[[V12]] : i32
// CHECK-NEXT:     %[[SMALLEST:.+]] = arith.constant 4194304 : i32
// CHECK-NEXT:     %[[V14:.+]] = arith.maxui %[[V13]], %[[SMALLEST]] : i32
// CHECK-NEXT:     %[[V15:.+]] = arith.bitcast %[[V14]] : i32 to f32
// CHECK-NEXT:     fuseops.yield %[[V15]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V4:.+]] = fuseops.expand_blocks %[[V2]] block(128, 128) : tensor<2x3xf32> -> tensor<200x300xf32>
// CHECK-NEXT:   %[[V5:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]], %[[ARG2:.+]] = %[[V4]]) : (tensor<200x300xf32>, tensor<200x300xf32>) -> tensor<200x300xf8E4M3FN> {
// CHECK-NEXT:     %[[V12:.+]] = arith.mulf %[[ARG1]], %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant -4.480000e+02 : f32
// CHECK-NEXT:     %[[V13:.+]] = arith.maximumf %[[V12]], %[[CST]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 4.480000e+02 : f32
// CHECK-NEXT:     %[[V14:.+]] = arith.minimumf %[[V13]], %[[CST0]] : f32
// CHECK-NEXT:     fuseops.yield %[[V14]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V6:.+]] = fuseops.pointwise () : () -> tensor<2x1xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     fuseops.yield %[[CST]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V7:.+]] = fuseops.concat %[[V3]], %[[V6]] dim(1) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:   %[[V8:.+]] = fuseops.permute %[[V5]] order[1, 0] : tensor<200x300xf8E4M3FN> -> tensor<300x200xf8E4M3FN>
// CHECK-NEXT:   %[[V9:.+]] = fuseops.permute %[[V3]] order[1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
// CHECK-NEXT:   %[[V10:.+]] = fuseops.pointwise () : () -> tensor<3x2xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     fuseops.yield %[[CST]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V11:.+]] = fuseops.concat %[[V9]], %[[V10]] dim(1) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:   fuseops.return %[[V5]], %[[V7]], %[[V8]], %[[V11]] : tensor<200x300xf8E4M3FN>, tensor<2x4xf32>, tensor<300x200xf8E4M3FN>, tensor<3x4xf32>
// CHECK-NEXT: }
fuseops.fusible @fp8_s3_s4_t3_block_128x128(%x: tensor<200x300xf32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = row_col>
forward {
  %q = fuseops.quantize %x {power_of_two, epsilon = 1.000000e-03 : f32} : (tensor<200x300xf32>) -> !fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = row_col>
  fuseops.return %q : !fuseops.quantized<200x300xf8E4M3FN, scale = block<128x128>, copies = row_col>
}

// Not where the columns are symbolic.
// CHECK-LABEL: fuseops.fusible @fp8_t3_symbolic_columns(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x300xf32>) -> (tensor<300x?xf8E4M3FN>, tensor<3x?xf32, #fuseops.blocks<128>>) attributes {frozen_results = array<i64: 0, 1>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<?x300xf32>) -> tensor<?x300xf32> {
// CHECK-NEXT:     %[[V8:.+]] = math.absf %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V8]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reduce_blocks %[[V0]] block(128, 128) : tensor<?x300xf32> -> tensor<?x3xf32, #fuseops.blocks<128>>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V1]]) : (tensor<?x3xf32, #fuseops.blocks<128>>) -> tensor<?x3xf32, #fuseops.blocks<128>> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 0x7F800000 : f32
// CHECK-NEXT:     %[[CST1:.+]] = arith.constant 4.480000e+02 : f32
// CHECK-NEXT:     %[[V8:.+]] = arith.divf %[[CST1]], %[[ARG1]] : f32
// CHECK-NEXT:     %[[CST2:.+]] = arith.constant 3.40282347E+38 : f32
// CHECK-NEXT:     %[[V9:.+]] = arith.cmpf oeq, %[[V8]], %[[CST0]] : f32
// CHECK-NEXT:     %[[V10:.+]] = arith.select %[[V9]], %[[CST2]], %[[V8]] : f32
// CHECK-NEXT:     %[[CST3:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V11:.+]] = arith.cmpf ogt, %[[ARG1]], %[[CST3]] : f32
// CHECK-NEXT:     %[[V12:.+]] = arith.cmpf olt, %[[ARG1]], %[[CST0]] : f32
// CHECK-NEXT:     %[[V13:.+]] = arith.andi %[[V11]], %[[V12]] : i1
// CHECK-NEXT:     %[[V14:.+]] = arith.select %[[V13]], %[[V10]], %[[CST]] : f32
// CHECK-NEXT:     fuseops.yield %[[V14]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V3:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V2]]) : (tensor<?x3xf32, #fuseops.blocks<128>>) -> tensor<?x3xf32, #fuseops.blocks<128>> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V8:.+]] = arith.divf %[[CST]], %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V8]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V4:.+]] = fuseops.expand_blocks %[[V2]] block(128, 128) : tensor<?x3xf32, #fuseops.blocks<128>> -> tensor<?x300xf32>
// CHECK-NEXT:   %[[V5:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]], %[[ARG2:.+]] = %[[V4]]) : (tensor<?x300xf32>, tensor<?x300xf32>) -> tensor<?x300xf8E4M3FN> {
// CHECK-NEXT:     %[[V8:.+]] = arith.mulf %[[ARG1]], %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant -4.480000e+02 : f32
// CHECK-NEXT:     %[[V9:.+]] = arith.maximumf %[[V8]], %[[CST]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 4.480000e+02 : f32
// CHECK-NEXT:     %[[V10:.+]] = arith.minimumf %[[V9]], %[[CST0]] : f32
// CHECK-NEXT:     fuseops.yield %[[V10]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V6:.+]] = fuseops.permute %[[V5]] order[1, 0] : tensor<?x300xf8E4M3FN> -> tensor<300x?xf8E4M3FN>
// CHECK-NEXT:   %[[V7:.+]] = fuseops.permute %[[V3]] order[1, 0] : tensor<?x3xf32, #fuseops.blocks<128>> -> tensor<3x?xf32, #fuseops.blocks<128>>
// CHECK-NEXT:   fuseops.return %[[V6]], %[[V7]] : tensor<300x?xf8E4M3FN>, tensor<3x?xf32, #fuseops.blocks<128>>
// CHECK-NEXT: }
fuseops.fusible @fp8_t3_symbolic_columns(%x: tensor<?x300xf32>) -> !fuseops.quantized<?x300xf8E4M3FN, scale = block<128x128>, copies = col>
forward {
  %q = fuseops.quantize %x : (tensor<?x300xf32>) -> !fuseops.quantized<?x300xf8E4M3FN, scale = block<128x128>, copies = col>
  fuseops.return %q : !fuseops.quantized<?x300xf8E4M3FN, scale = block<128x128>, copies = col>
}

// The exponent of amax / 448 rounded up, and data by its reciprocal.
// CHECK-LABEL: fuseops.fusible @fp8_s5_mx(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x40xbf16>) -> (tensor<?x40xf8E4M3FN>, tensor<?x2xf8E8M0FNU>, tensor<40x?xf8E4M3FN>, tensor<40x?xf8E8M0FNU, #fuseops.blocks<32>>) attributes {frozen_results = array<i64: 0, 1, 2, 3>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<?x40xbf16>) -> tensor<?x40xf32> {
// CHECK-NEXT:     %[[V14:.+]] = math.absf %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V14]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reduce_blocks %[[V0]] block(1, 32) : tensor<?x40xf32> -> tensor<?x2xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V1]]) : (tensor<?x2xf32>) -> tensor<?x2xf8E8M0FNU> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 4.480000e+02 : f32
// CHECK-NEXT:     %[[V14:.+]] = arith.divf %[[ARG1]], %[[CST]] : f32
// CHECK-NEXT:     %[[V15:.+]] = arith.bitcast %[[V14]] : f32 to i32
// CHECK-NEXT:     %[[C8388607_I32:.+]] = arith.constant 8388607 : i32
// CHECK-NEXT:     %[[V16:.+]] = arith.addi %[[V15]], %[[C8388607_I32]] : i32
// CHECK-NEXT:     %[[CM8388608_I32:.+]] = arith.constant -8388608 : i32
// CHECK-NEXT:     %[[V17:.+]] = arith.andi %[[V16]], %[[CM8388608_I32]] : i32
// CHECK-NEXT:     %[[C4194304_I32:.+]] = arith.constant 4194304 : i32
// CHECK-NEXT:     %[[V18:.+]] = arith.cmpi ule, %[[V15]], %[[C4194304_I32]] : i32
// CHECK-NEXT:     %[[V19:.+]] = arith.select %[[V18]], %[[C4194304_I32]], %[[V17]] : i32
// CHECK-NEXT:     %[[C2130706432_I32:.+]] = arith.constant 2130706432 : i32
// CHECK-NEXT:     %[[V20:.+]] = arith.minui %[[V19]], %[[C2130706432_I32]] : i32
// CHECK-NEXT:     %[[V21:.+]] = arith.cmpf uno, %[[ARG1]], %[[ARG1]] : f32
// CHECK-NEXT:     %[[V22:.+]] = arith.bitcast %[[V20]] : i32 to f32
// CHECK-NEXT:     %[[V23:.+]] = arith.select %[[V21]], %[[ARG1]], %[[V22]] : f32
// CHECK-NEXT:     fuseops.yield %[[V23]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V3:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V1]]) : (tensor<?x2xf32>) -> tensor<?x2xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 4.480000e+02 : f32
// CHECK-NEXT:     %[[V14:.+]] = arith.divf %[[ARG1]], %[[CST]] : f32
// CHECK-NEXT:     %[[V15:.+]] = arith.bitcast %[[V14]] : f32 to i32
// CHECK-NEXT:     %[[C8388607_I32:.+]] = arith.constant 8388607 : i32
// CHECK-NEXT:     %[[V16:.+]] = arith.addi %[[V15]], %[[C8388607_I32]] : i32
// CHECK-NEXT:     %[[CM8388608_I32:.+]] = arith.constant -8388608 : i32
// CHECK-NEXT:     %[[V17:.+]] = arith.andi %[[V16]], %[[CM8388608_I32]] : i32
// CHECK-NEXT:     %[[C4194304_I32:.+]] = arith.constant 4194304 : i32
// CHECK-NEXT:     %[[V18:.+]] = arith.cmpi ule, %[[V15]], %[[C4194304_I32]] : i32
// CHECK-NEXT:     %[[V19:.+]] = arith.select %[[V18]], %[[C4194304_I32]], %[[V17]] : i32
// CHECK-NEXT:     %[[C2130706432_I32:.+]] = arith.constant 2130706432 : i32
// CHECK-NEXT:     %[[V20:.+]] = arith.minui %[[V19]], %[[C2130706432_I32]] : i32
// CHECK-NEXT:     %[[V21:.+]] = arith.cmpf uno, %[[ARG1]], %[[ARG1]] : f32
// CHECK-NEXT:     %[[V22:.+]] = arith.bitcast %[[V20]] : i32 to f32
// CHECK-NEXT:     %[[V23:.+]] = arith.select %[[V21]], %[[ARG1]], %[[V22]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V24:.+]] = arith.divf %[[CST0]], %[[V23]] : f32
// CHECK-NEXT:     fuseops.yield %[[V24]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V4:.+]] = fuseops.expand_blocks %[[V3]] block(1, 32) : tensor<?x2xf32> -> tensor<?x40xf32>
// CHECK-NEXT:   %[[V5:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]], %[[ARG2:.+]] = %[[V4]]) : (tensor<?x40xbf16>, tensor<?x40xf32>) -> tensor<?x40xf8E4M3FN> {
// CHECK-NEXT:     %[[V14:.+]] = arith.mulf %[[ARG1]], %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant -4.480000e+02 : f32
// CHECK-NEXT:     %[[V15:.+]] = arith.maximumf %[[V14]], %[[CST]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 4.480000e+02 : f32
// CHECK-NEXT:     %[[V16:.+]] = arith.minimumf %[[V15]], %[[CST0]] : f32
// CHECK-NEXT:     fuseops.yield %[[V16]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V6:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<?x40xbf16>) -> tensor<?x40xf32> {
// CHECK-NEXT:     %[[V14:.+]] = math.absf %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V14]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V7:.+]] = fuseops.reduce_blocks %[[V6]] block(32, 1) : tensor<?x40xf32> -> tensor<?x40xf32, #fuseops.blocks<32>>
// CHECK-NEXT:   %[[V8:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V7]]) : (tensor<?x40xf32, #fuseops.blocks<32>>) -> tensor<?x40xf8E8M0FNU, #fuseops.blocks<32>> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 4.480000e+02 : f32
// CHECK-NEXT:     %[[V14:.+]] = arith.divf %[[ARG1]], %[[CST]] : f32
// CHECK-NEXT:     %[[V15:.+]] = arith.bitcast %[[V14]] : f32 to i32
// CHECK-NEXT:     %[[C8388607_I32:.+]] = arith.constant 8388607 : i32
// CHECK-NEXT:     %[[V16:.+]] = arith.addi %[[V15]], %[[C8388607_I32]] : i32
// CHECK-NEXT:     %[[CM8388608_I32:.+]] = arith.constant -8388608 : i32
// CHECK-NEXT:     %[[V17:.+]] = arith.andi %[[V16]], %[[CM8388608_I32]] : i32
// CHECK-NEXT:     %[[C4194304_I32:.+]] = arith.constant 4194304 : i32
// CHECK-NEXT:     %[[V18:.+]] = arith.cmpi ule, %[[V15]], %[[C4194304_I32]] : i32
// CHECK-NEXT:     %[[V19:.+]] = arith.select %[[V18]], %[[C4194304_I32]], %[[V17]] : i32
// CHECK-NEXT:     %[[C2130706432_I32:.+]] = arith.constant 2130706432 : i32
// CHECK-NEXT:     %[[V20:.+]] = arith.minui %[[V19]], %[[C2130706432_I32]] : i32
// CHECK-NEXT:     %[[V21:.+]] = arith.cmpf uno, %[[ARG1]], %[[ARG1]] : f32
// CHECK-NEXT:     %[[V22:.+]] = arith.bitcast %[[V20]] : i32 to f32
// CHECK-NEXT:     %[[V23:.+]] = arith.select %[[V21]], %[[ARG1]], %[[V22]] : f32
// CHECK-NEXT:     fuseops.yield %[[V23]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V9:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V7]]) : (tensor<?x40xf32, #fuseops.blocks<32>>) -> tensor<?x40xf32, #fuseops.blocks<32>> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 4.480000e+02 : f32
// CHECK-NEXT:     %[[V14:.+]] = arith.divf %[[ARG1]], %[[CST]] : f32
// CHECK-NEXT:     %[[V15:.+]] = arith.bitcast %[[V14]] : f32 to i32
// CHECK-NEXT:     %[[C8388607_I32:.+]] = arith.constant 8388607 : i32
// CHECK-NEXT:     %[[V16:.+]] = arith.addi %[[V15]], %[[C8388607_I32]] : i32
// CHECK-NEXT:     %[[CM8388608_I32:.+]] = arith.constant -8388608 : i32
// CHECK-NEXT:     %[[V17:.+]] = arith.andi %[[V16]], %[[CM8388608_I32]] : i32
// CHECK-NEXT:     %[[C4194304_I32:.+]] = arith.constant 4194304 : i32
// CHECK-NEXT:     %[[V18:.+]] = arith.cmpi ule, %[[V15]], %[[C4194304_I32]] : i32
// CHECK-NEXT:     %[[V19:.+]] = arith.select %[[V18]], %[[C4194304_I32]], %[[V17]] : i32
// CHECK-NEXT:     %[[C2130706432_I32:.+]] = arith.constant 2130706432 : i32
// CHECK-NEXT:     %[[V20:.+]] = arith.minui %[[V19]], %[[C2130706432_I32]] : i32
// CHECK-NEXT:     %[[V21:.+]] = arith.cmpf uno, %[[ARG1]], %[[ARG1]] : f32
// CHECK-NEXT:     %[[V22:.+]] = arith.bitcast %[[V20]] : i32 to f32
// CHECK-NEXT:     %[[V23:.+]] = arith.select %[[V21]], %[[ARG1]], %[[V22]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V24:.+]] = arith.divf %[[CST0]], %[[V23]] : f32
// CHECK-NEXT:     fuseops.yield %[[V24]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V10:.+]] = fuseops.expand_blocks %[[V9]] block(32, 1) : tensor<?x40xf32, #fuseops.blocks<32>> -> tensor<?x40xf32>
// CHECK-NEXT:   %[[V11:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]], %[[ARG2:.+]] = %[[V10]]) : (tensor<?x40xbf16>, tensor<?x40xf32>) -> tensor<?x40xf8E4M3FN> {
// CHECK-NEXT:     %[[V14:.+]] = arith.mulf %[[ARG1]], %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant -4.480000e+02 : f32
// CHECK-NEXT:     %[[V15:.+]] = arith.maximumf %[[V14]], %[[CST]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 4.480000e+02 : f32
// CHECK-NEXT:     %[[V16:.+]] = arith.minimumf %[[V15]], %[[CST0]] : f32
// CHECK-NEXT:     fuseops.yield %[[V16]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V12:.+]] = fuseops.permute %[[V11]] order[1, 0] : tensor<?x40xf8E4M3FN> -> tensor<40x?xf8E4M3FN>
// CHECK-NEXT:   %[[V13:.+]] = fuseops.permute %[[V8]] order[1, 0] : tensor<?x40xf8E8M0FNU, #fuseops.blocks<32>> -> tensor<40x?xf8E8M0FNU, #fuseops.blocks<32>>
// CHECK-NEXT:   fuseops.return %[[V5]], %[[V2]], %[[V12]], %[[V13]] : tensor<?x40xf8E4M3FN>, tensor<?x2xf8E8M0FNU>, tensor<40x?xf8E4M3FN>, tensor<40x?xf8E8M0FNU, #fuseops.blocks<32>>
// CHECK-NEXT: }
fuseops.fusible @fp8_s5_mx(%x: tensor<?x40xbf16>) -> !fuseops.quantized<?x40xf8E4M3FN, scale = mx<1x32>, copies = row_col>
forward {
  %q = fuseops.quantize %x : (tensor<?x40xbf16>) -> !fuseops.quantized<?x40xf8E4M3FN, scale = mx<1x32>, copies = row_col>
  fuseops.return %q : !fuseops.quantized<?x40xf8E4M3FN, scale = mx<1x32>, copies = row_col>
}
