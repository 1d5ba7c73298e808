// RUN: fuse-opt %s --fuseops-expand-quantized | FileCheck %s

// Data, then scale_inv, of each argument; attributes go to all parts.
// CHECK-LABEL: fuseops.fusible @arguments(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf8E4M3FN> {fuseops.frozen}, %[[ARG1:.+]]: tensor<?x1xf32> {fuseops.frozen}, %[[ARG2:.+]]: tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return %[[ARG2]] : tensor<?x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xf32>) {
// CHECK-NEXT:   fuseops.return none, none, %[[ARG0]] : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @arguments(%q: !fuseops.quantized<?x8xf8E4M3FN, scale = per_row, copies = row> {fuseops.frozen}, %x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  fuseops.return %x : tensor<?x8xf32>
}
backward (%dx: tensor<?x8xf32>) {
  fuseops.return none, %dx : tensor<?x8xf32>
}

// All five scale kinds, and both copies, pass from argument to result.
// CHECK-LABEL: fuseops.fusible @passed_on(
// CHECK-SAME: %[[ARG0:.+]]: tensor<256x512xf8E5M2>, %[[ARG1:.+]]: tensor<2x4xf32>, %[[ARG2:.+]]: tensor<512x256xf8E5M2>, %[[ARG3:.+]]: tensor<4x4xf32>, %[[ARG4:.+]]: tensor<64x256xf8E4M3FN>, %[[ARG5:.+]]: tensor<64x8xf8E8M0FNU>) -> (tensor<64x256xf8E4M3FN>, tensor<64x8xf8E8M0FNU>, tensor<256x512xf8E5M2>, tensor<2x4xf32>, tensor<512x256xf8E5M2>, tensor<4x4xf32>) attributes {frozen_results = array<i64: 0, 1, 2, 3, 4, 5>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return %[[ARG4]], %[[ARG5]], %[[ARG0]], %[[ARG1]], %[[ARG2]], %[[ARG3]] : tensor<64x256xf8E4M3FN>, tensor<64x8xf8E8M0FNU>, tensor<256x512xf8E5M2>, tensor<2x4xf32>, tensor<512x256xf8E5M2>, tensor<4x4xf32>
// CHECK-NEXT: }
fuseops.fusible @passed_on(%q: !fuseops.quantized<256x512xf8E5M2, scale = block<128x128>, copies = row_col>, %r: !fuseops.quantized<256x64xf8E4M3FN, scale = mx<1x32>, copies = col>) -> (!fuseops.quantized<256x64xf8E4M3FN, scale = mx<1x32>, copies = col>, !fuseops.quantized<256x512xf8E5M2, scale = block<128x128>, copies = row_col>)
forward {
  fuseops.return %r, %q : !fuseops.quantized<256x64xf8E4M3FN, scale = mx<1x32>, copies = col>, !fuseops.quantized<256x512xf8E5M2, scale = block<128x128>, copies = row_col>
}

// Rules fp8_r1 to fp8_r3: product, clamp, and the rounding of the result's type.
// CHECK-LABEL: fuseops.fusible @fp8_r1_r2_r3_quantize_per_tensor(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<f32>) -> (tensor<?x8xf8E4M3FN>, tensor<f32>) attributes {frozen_results = array<i64: 0, 1>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]]) : (tensor<f32>) -> tensor<f32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.divf %[[CST]], %[[ARG2]] : f32
// CHECK-NEXT:     fuseops.yield %[[V2]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<?x8xbf16>, tensor<f32>) -> tensor<?x8xf8E4M3FN> {
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant -4.480000e+02 : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.maximumf %[[V2]], %[[CST]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 4.480000e+02 : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.minimumf %[[V3]], %[[CST0]] : f32
// CHECK-NEXT:     fuseops.yield %[[V4]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V1]], %[[V0]] : tensor<?x8xf8E4M3FN>, tensor<f32>
// CHECK-NEXT: }
fuseops.fusible @fp8_r1_r2_r3_quantize_per_tensor(%x: tensor<?x8xbf16>, %s: tensor<f32>) -> !fuseops.quantized<?x8xf8E4M3FN, scale = per_tensor, copies = row>
forward {
  %q = fuseops.quantize %x scale(%s) : (tensor<?x8xbf16>, tensor<f32>) -> !fuseops.quantized<?x8xf8E4M3FN, scale = per_tensor, copies = row>
  fuseops.return %q : !fuseops.quantized<?x8xf8E4M3FN, scale = per_tensor, copies = row>
}

// Rules fp8_s1, fp8_s2 and fp8_s6: the scale of each row and its inverse.
// CHECK-LABEL: fuseops.fusible @fp8_s1_s2_s6_quantize_per_row(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>) -> (tensor<?x8xf8E5M2>, tensor<?x1xf32>) attributes {frozen_results = array<i64: 0, 1>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT:     %[[V5:.+]] = math.absf %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V5]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reduce_columns max %[[V0]] : tensor<?x8xf32> -> tensor<?x1xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V1]]) : (tensor<?x1xf32>) -> tensor<?x1xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 0x7F800000 : f32
// CHECK-NEXT:     %[[CST1:.+]] = arith.constant 5.734400e+04 : f32
// CHECK-NEXT:     %[[V5:.+]] = arith.divf %[[CST1]], %[[ARG1]] : f32
// CHECK-NEXT:     %[[CST2:.+]] = arith.constant 3.40282347E+38 : f32
// CHECK-NEXT:     %[[V6:.+]] = arith.cmpf oeq, %[[V5]], %[[CST0]] : f32
// CHECK-NEXT:     %[[V7:.+]] = arith.select %[[V6]], %[[CST2]], %[[V5]] : f32
// CHECK-NEXT:     %[[CST3:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V8:.+]] = arith.cmpf ogt, %[[ARG1]], %[[CST3]] : f32
// CHECK-NEXT:     %[[V9:.+]] = arith.cmpf olt, %[[ARG1]], %[[CST0]] : f32
// CHECK-NEXT:     %[[V10:.+]] = arith.andi %[[V8]], %[[V9]] : i1
// CHECK-NEXT:     %[[V11:.+]] = arith.select %[[V10]], %[[V7]], %[[CST]] : f32
// CHECK-NEXT:     fuseops.yield %[[V11]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V3:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V2]]) : (tensor<?x1xf32>) -> tensor<?x1xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V5:.+]] = arith.divf %[[CST]], %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V5]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V4:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]], %[[ARG2:.+]] = %[[V2]]) : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf8E5M2> {
// CHECK-NEXT:     %[[V5:.+]] = arith.mulf %[[ARG1]], %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant -5.734400e+04 : f32
// CHECK-NEXT:     %[[V6:.+]] = arith.maximumf %[[V5]], %[[CST]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 5.734400e+04 : f32
// CHECK-NEXT:     %[[V7:.+]] = arith.minimumf %[[V6]], %[[CST0]] : f32
// CHECK-NEXT:     fuseops.yield %[[V7]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V4]], %[[V3]] : tensor<?x8xf8E5M2>, tensor<?x1xf32>
// CHECK-NEXT: }
fuseops.fusible @fp8_s1_s2_s6_quantize_per_row(%x: tensor<?x8xf32>) -> !fuseops.quantized<?x8xf8E5M2, scale = per_row, copies = row>
forward {
  %q = fuseops.quantize %x : (tensor<?x8xf32>) -> !fuseops.quantized<?x8xf8E5M2, scale = per_row, copies = row>
  fuseops.return %q : !fuseops.quantized<?x8xf8E5M2, scale = per_row, copies = row>
}

// CHECK-LABEL: fuseops.fusible @dequantize(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf8E4M3FN>, %[[ARG1:.+]]: tensor<?x1xf32>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<?x8xf8E4M3FN>, tensor<?x1xf32>) -> tensor<?x8xbf16> {
// CHECK-NEXT:     %[[V1:.+]] = arith.mulf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @dequantize(%q: !fuseops.quantized<?x8xf8E4M3FN, scale = per_row, copies = row>) -> tensor<?x8xbf16>
forward {
  %x = fuseops.dequantize %q : !fuseops.quantized<?x8xf8E4M3FN, scale = per_row, copies = row> -> tensor<?x8xbf16>
  fuseops.return %x : tensor<?x8xbf16>
}

// The parts are saved; neither a gradient of the quantized result nor of its
// parts comes in.
// CHECK-LABEL: fuseops.fusible @saved(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>, %[[ARG1:.+]]: tensor<?x8xf8E4M3FN>, %[[ARG2:.+]]: tensor<?x1xf32>) -> (tensor<?x8xf8E4M3FN>, tensor<?x1xf32>, tensor<?x8xf32>) attributes {frozen_results = array<i64: 0, 1>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<?x8xf32>
// CHECK-NEXT:   fuseops.return %[[ARG1]], %[[ARG2]], %[[V0]] save(%[[ARG1]], %[[ARG2]], %[[ARG0]]) : tensor<?x8xf8E4M3FN>, tensor<?x1xf32>, tensor<?x8xf32>, tensor<?x8xf8E4M3FN>, tensor<?x1xf32>, tensor<?x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xf32>, saved %[[ARG1:.+]]: tensor<?x8xf8E4M3FN>, saved %[[ARG2:.+]]: tensor<?x1xf32>, saved %[[ARG3:.+]]: tensor<?x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG4:.+]] = %[[ARG1]], %[[ARG5:.+]] = %[[ARG2]]) : (tensor<?x8xf8E4M3FN>, tensor<?x1xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[ARG4]], %[[ARG5]] : f32
// CHECK-NEXT:     fuseops.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.silu_grad %[[ARG0]], %[[ARG3]] : tensor<?x8xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.mul %[[V1]], %[[V0]] : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK-NEXT:   fuseops.return %[[V2]], none, none : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @saved(%x: tensor<?x8xf32>, %q: !fuseops.quantized<?x8xf8E4M3FN, scale = per_row, copies = row>) -> (!fuseops.quantized<?x8xf8E4M3FN, scale = per_row, copies = row>, tensor<?x8xf32>)
forward {
  %y = fuseops.silu %x : tensor<?x8xf32>
  fuseops.return %q, %y save(%q, %x) : !fuseops.quantized<?x8xf8E4M3FN, scale = per_row, copies = row>, tensor<?x8xf32>, !fuseops.quantized<?x8xf8E4M3FN, scale = per_row, copies = row>, tensor<?x8xf32>
}
backward (%dy: tensor<?x8xf32>, saved %q: !fuseops.quantized<?x8xf8E4M3FN, scale = per_row, copies = row>, saved %x: tensor<?x8xf32>) {
  %w = fuseops.dequantize %q : !fuseops.quantized<?x8xf8E4M3FN, scale = per_row, copies = row> -> tensor<?x8xf32>
  %a = fuseops.silu_grad %dy, %x : tensor<?x8xf32>
  %dx = fuseops.mul %a, %w : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  fuseops.return %dx, none : tensor<?x8xf32>
}

// CHECK-LABEL: fuseops.fusible @pack_and_unpack(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf8E5M2>, %[[ARG1:.+]]: tensor<f32>) -> tensor<4x8xf8E5M2> attributes {frozen_results = array<i64: 0>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return %[[ARG0]] : tensor<4x8xf8E5M2>
// CHECK-NEXT: }
fuseops.fusible @pack_and_unpack(%d: tensor<4x8xf8E5M2>, %s: tensor<f32>) -> tensor<4x8xf8E5M2>
forward {
  %q = fuseops.pack_quantized %d, %s : (tensor<4x8xf8E5M2>, tensor<f32>) -> !fuseops.quantized<4x8xf8E5M2, scale = per_tensor, copies = row>
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<4x8xf8E5M2, scale = per_tensor, copies = row>) -> (tensor<4x8xf8E5M2>, tensor<f32>)
  fuseops.return %p#0 : tensor<4x8xf8E5M2>
}

// CHECK-LABEL: fuseops.fusible @nothing_quantized(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @nothing_quantized(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  fuseops.return %x : tensor<4x8xf32>
}
