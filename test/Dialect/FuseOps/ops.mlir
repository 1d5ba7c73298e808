// RUN: fuse-opt %s | fuse-opt | FileCheck %s
// RUN: fuse-opt %s --mlir-print-op-generic | fuse-opt | FileCheck %s

// CHECK-LABEL: fuseops.fusible @arithmetic(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x64xbf16>, %[[ARG1:.+]]: tensor<?x1xf32>, %[[ARG2:.+]]: tensor<64xbf16>) -> tensor<?x64xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.add %[[ARG0]], %[[ARG1]] : tensor<?x64xbf16>, tensor<?x1xf32> -> tensor<?x64xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.mul %[[V0]], %[[ARG2]] : tensor<?x64xbf16>, tensor<64xbf16> -> tensor<?x64xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.bias %[[V1]], %[[ARG2]] : tensor<?x64xbf16>, tensor<64xbf16>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.scale %[[V2]] by(-5.000000e-01) : tensor<?x64xbf16>
// CHECK-NEXT:   fuseops.return %[[V3]] : tensor<?x64xbf16>
// CHECK-NEXT: }
fuseops.fusible @arithmetic(%x: tensor<?x64xbf16>, %s: tensor<?x1xf32>, %b: tensor<64xbf16>) -> tensor<?x64xbf16>
forward {
  %0 = fuseops.add %x, %s : tensor<?x64xbf16>, tensor<?x1xf32> -> tensor<?x64xbf16>
  %1 = fuseops.mul %0, %b : tensor<?x64xbf16>, tensor<64xbf16> -> tensor<?x64xbf16>
  %2 = fuseops.bias %1, %b : tensor<?x64xbf16>, tensor<64xbf16>
  %3 = fuseops.scale %2 by(-0.5) : tensor<?x64xbf16>
  fuseops.return %3 : tensor<?x64xbf16>
}

// CHECK-LABEL: fuseops.fusible @activations(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf16>, %[[ARG1:.+]]: tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.gelu %[[ARG1]] approximate(none) : tensor<4x8xf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.gelu %[[V0]] approximate(tanh) : tensor<4x8xf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.gelu_grad %[[ARG0]], %[[V1]] approximate(none) : tensor<4x8xf16>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.gelu_grad %[[V2]], %[[V1]] approximate(tanh) : tensor<4x8xf16>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.silu %[[V3]] : tensor<4x8xf16>
// CHECK-NEXT:   %[[V5:.+]] = fuseops.silu_grad %[[ARG0]], %[[V4]] : tensor<4x8xf16>
// CHECK-NEXT:   %[[V6:.+]] = fuseops.relu %[[V5]] : tensor<4x8xf16>
// CHECK-NEXT:   %[[V7:.+]] = fuseops.relu_grad %[[ARG0]], %[[V6]] : tensor<4x8xf16>
// CHECK-NEXT:   fuseops.return %[[V7]] : tensor<4x8xf16>
// CHECK-NEXT: }
fuseops.fusible @activations(%dy: tensor<4x8xf16>, %x: tensor<4x8xf16>) -> tensor<4x8xf16>
forward {
  %0 = fuseops.gelu %x approximate(none) : tensor<4x8xf16>
  %1 = fuseops.gelu %0 approximate(tanh) : tensor<4x8xf16>
  %2 = fuseops.gelu_grad %dy, %1 approximate(none) : tensor<4x8xf16>
  %3 = fuseops.gelu_grad %2, %1 approximate(tanh) : tensor<4x8xf16>
  %4 = fuseops.silu %3 : tensor<4x8xf16>
  %5 = fuseops.silu_grad %dy, %4 : tensor<4x8xf16>
  %6 = fuseops.relu %5 : tensor<4x8xf16>
  %7 = fuseops.relu_grad %dy, %6 : tensor<4x8xf16>
  fuseops.return %7 : tensor<4x8xf16>
}

// CHECK-LABEL: fuseops.fusible @dropout_and_cast(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<2xi64> {fuseops.random_state}) -> tensor<4x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.dropout %[[ARG0]], %[[ARG1]] p(2.500000e-01) : tensor<4x8xf32>, tensor<2xi64>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.cast %[[V0]] : tensor<4x8xf32> -> tensor<4x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<4x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @dropout_and_cast(%x: tensor<4x8xf32>, %s: tensor<2xi64> {fuseops.random_state}) -> tensor<4x8xbf16>
forward {
  %0 = fuseops.dropout %x, %s p(0.25) : tensor<4x8xf32>, tensor<2xi64>
  %1 = fuseops.cast %0 : tensor<4x8xf32> -> tensor<4x8xbf16>
  fuseops.return %1 : tensor<4x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @layer_norms(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x64xbf16>, %[[ARG1:.+]]: tensor<64xbf16>, %[[ARG2:.+]]: tensor<64xf32>) -> tensor<?x64xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[RESULT:.+]], %[[MEAN:.+]], %[[RSTD:.+]] = fuseops.layer_norm %[[ARG0]] eps(1.000000e-05) : (tensor<?x64xbf16>) -> (tensor<?x64xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
// CHECK-NEXT:   %[[RESULT0:.+]], %[[MEAN1:.+]], %[[RSTD2:.+]] = fuseops.layer_norm %[[RESULT]] gamma(%[[ARG1]]) eps(1.000000e-05) zero_centered_gamma : (tensor<?x64xbf16>, tensor<64xbf16>) -> (tensor<?x64xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
// CHECK-NEXT:   %[[RESULT3:.+]], %[[MEAN4:.+]], %[[RSTD5:.+]] = fuseops.layer_norm %[[RESULT0]] beta(%[[ARG2]]) eps(1.000000e-05) : (tensor<?x64xbf16>, tensor<64xf32>) -> (tensor<?x64xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
// CHECK-NEXT:   %[[RESULT6:.+]], %[[MEAN7:.+]], %[[RSTD8:.+]] = fuseops.layer_norm %[[RESULT3]] gamma(%[[ARG1]]) beta(%[[ARG2]]) eps(1.000000e-05) : (tensor<?x64xbf16>, tensor<64xbf16>, tensor<64xf32>) -> (tensor<?x64xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
// CHECK-NEXT:   %[[RESULT9:.+]] = fuseops.layer_norm_grad %[[RESULT6]], %[[ARG0]], %[[MEAN7]], %[[RSTD8]] : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x64xbf16>
// CHECK-NEXT:   %[[RESULT10:.+]], %[[GAMMAGRADIENT:.+]] = fuseops.layer_norm_grad %[[RESULT9]], %[[ARG0]], %[[MEAN7]], %[[RSTD8]] gamma(%[[ARG1]]) zero_centered_gamma : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<64xbf16>) -> (tensor<?x64xbf16>, tensor<64xbf16>)
// CHECK-NEXT:   fuseops.return %[[RESULT10]] : tensor<?x64xbf16>
// CHECK-NEXT: }
fuseops.fusible @layer_norms(%x: tensor<?x64xbf16>, %g: tensor<64xbf16>, %b: tensor<64xf32>) -> tensor<?x64xbf16>
forward {
  %0, %m0, %r0 = fuseops.layer_norm %x eps(1.0e-5) : (tensor<?x64xbf16>) -> (tensor<?x64xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
  %1, %m1, %r1 = fuseops.layer_norm %0 gamma(%g) eps(1.0e-5) zero_centered_gamma : (tensor<?x64xbf16>, tensor<64xbf16>) -> (tensor<?x64xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
  %2, %m2, %r2 = fuseops.layer_norm %1 beta(%b) eps(1.0e-5) : (tensor<?x64xbf16>, tensor<64xf32>) -> (tensor<?x64xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
  %3, %m3, %r3 = fuseops.layer_norm %2 gamma(%g) beta(%b) eps(1.0e-5) : (tensor<?x64xbf16>, tensor<64xbf16>, tensor<64xf32>) -> (tensor<?x64xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
  %4 = fuseops.layer_norm_grad %3, %x, %m3, %r3 : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x64xbf16>
  %5, %dg = fuseops.layer_norm_grad %4, %x, %m3, %r3 gamma(%g) zero_centered_gamma : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<64xbf16>) -> (tensor<?x64xbf16>, tensor<64xbf16>)
  fuseops.return %5 : tensor<?x64xbf16>
}

// CHECK-LABEL: fuseops.fusible @rms_norms(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf64>, %[[ARG1:.+]]: tensor<8xf64>) -> (tensor<4x8xf64>, tensor<8xf64>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[RESULT:.+]], %[[RSTD:.+]] = fuseops.rms_norm %[[ARG0]] eps(9.9999999999999995E-7) : (tensor<4x8xf64>) -> (tensor<4x8xf64>, tensor<4x1xf64>)
// CHECK-NEXT:   %[[RESULT0:.+]], %[[RSTD1:.+]] = fuseops.rms_norm %[[RESULT]] gamma(%[[ARG1]]) eps(0.000000e+00) zero_centered_gamma : (tensor<4x8xf64>, tensor<8xf64>) -> (tensor<4x8xf64>, tensor<4x1xf64>)
// CHECK-NEXT:   %[[RESULT2:.+]] = fuseops.rms_norm_grad %[[RESULT0]], %[[ARG0]], %[[RSTD1]] : (tensor<4x8xf64>, tensor<4x8xf64>, tensor<4x1xf64>) -> tensor<4x8xf64>
// CHECK-NEXT:   %[[RESULT3:.+]], %[[GAMMAGRADIENT:.+]] = fuseops.rms_norm_grad %[[RESULT2]], %[[ARG0]], %[[RSTD1]] gamma(%[[ARG1]]) zero_centered_gamma : (tensor<4x8xf64>, tensor<4x8xf64>, tensor<4x1xf64>, tensor<8xf64>) -> (tensor<4x8xf64>, tensor<8xf64>)
// CHECK-NEXT:   fuseops.return %[[RESULT3]], %[[GAMMAGRADIENT]] : tensor<4x8xf64>, tensor<8xf64>
// CHECK-NEXT: }
fuseops.fusible @rms_norms(%x: tensor<4x8xf64>, %g: tensor<8xf64>) -> (tensor<4x8xf64>, tensor<8xf64>)
forward {
  %0, %r0 = fuseops.rms_norm %x eps(1.0e-6) : (tensor<4x8xf64>) -> (tensor<4x8xf64>, tensor<4x1xf64>)
  %1, %r1 = fuseops.rms_norm %0 gamma(%g) eps(0.0) zero_centered_gamma : (tensor<4x8xf64>, tensor<8xf64>) -> (tensor<4x8xf64>, tensor<4x1xf64>)
  %2 = fuseops.rms_norm_grad %1, %x, %r1 : (tensor<4x8xf64>, tensor<4x8xf64>, tensor<4x1xf64>) -> tensor<4x8xf64>
  %3, %dg = fuseops.rms_norm_grad %2, %x, %r1 gamma(%g) zero_centered_gamma : (tensor<4x8xf64>, tensor<4x8xf64>, tensor<4x1xf64>, tensor<8xf64>) -> (tensor<4x8xf64>, tensor<8xf64>)
  fuseops.return %3, %dg : tensor<4x8xf64>, tensor<8xf64>
}

// CHECK-LABEL: fuseops.fusible @reductions(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x64xbf16>) -> (tensor<64xf32>, tensor<64xbf16>, tensor<?x1xf32>, tensor<f32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reduce_rows sum %[[ARG0]] : tensor<?x64xbf16> -> tensor<64xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reduce_rows max %[[ARG0]] : tensor<?x64xbf16> -> tensor<64xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.reduce_columns sum %[[ARG0]] : tensor<?x64xbf16> -> tensor<?x1xf32>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.reduce_columns max %[[ARG0]] : tensor<?x64xbf16> -> tensor<?x1xf32>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.reduce_rows max %[[V3]] : tensor<?x1xf32> -> tensor<f32>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V1]], %[[V2]], %[[V4]] : tensor<64xf32>, tensor<64xbf16>, tensor<?x1xf32>, tensor<f32>
// CHECK-NEXT: }
fuseops.fusible @reductions(%x: tensor<?x64xbf16>) -> (tensor<64xf32>, tensor<64xbf16>, tensor<?x1xf32>, tensor<f32>)
forward {
  %0 = fuseops.reduce_rows sum %x : tensor<?x64xbf16> -> tensor<64xf32>
  %1 = fuseops.reduce_rows max %x : tensor<?x64xbf16> -> tensor<64xbf16>
  %2 = fuseops.reduce_columns sum %x : tensor<?x64xbf16> -> tensor<?x1xf32>
  %3 = fuseops.reduce_columns max %x : tensor<?x64xbf16> -> tensor<?x1xf32>
  %4 = fuseops.reduce_rows max %3 : tensor<?x1xf32> -> tensor<f32>
  fuseops.return %0, %1, %2, %4 : tensor<64xf32>, tensor<64xbf16>, tensor<?x1xf32>, tensor<f32>
}

// CHECK-LABEL: fuseops.fusible @contractions(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x16x64xbf16>, %[[ARG1:.+]]: tensor<32x64xbf16>, %[[ARG2:.+]]: tensor<32xbf16>) -> (tensor<32x64xbf16>, tensor<?x16x64xbf16>, tensor<64x64xbf16>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.linear %[[ARG0]], %[[ARG1]] : (tensor<?x16x64xbf16>, tensor<32x64xbf16>) -> tensor<?x16x32xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.linear %[[ARG0]], %[[ARG1]] bias(%[[ARG2]]) : (tensor<?x16x64xbf16>, tensor<32x64xbf16>, tensor<32xbf16>) -> tensor<?x16x32xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.matmul %[[V0]], %[[ARG0]] transpose_lhs : tensor<?x16x32xbf16>, tensor<?x16x64xbf16> -> tensor<32x64xbf16>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.matmul %[[V1]], %[[ARG1]] : tensor<?x16x32xbf16>, tensor<32x64xbf16> -> tensor<?x16x64xbf16>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.matmul %[[ARG0]], %[[ARG1]] transpose_rhs : tensor<?x16x64xbf16>, tensor<32x64xbf16> -> tensor<?x16x32xbf16>
// CHECK-NEXT:   %[[V5:.+]] = fuseops.matmul %[[ARG0]], %[[ARG0]] transpose_lhs : tensor<?x16x64xbf16>, tensor<?x16x64xbf16> -> tensor<64x64xbf16>
// CHECK-NEXT:   %[[V6:.+]] = fuseops.matmul %[[V5]], %[[V5]] transpose_lhs transpose_rhs : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
// CHECK-NEXT:   fuseops.return %[[V2]], %[[V3]], %[[V6]] : tensor<32x64xbf16>, tensor<?x16x64xbf16>, tensor<64x64xbf16>
// CHECK-NEXT: }
fuseops.fusible @contractions(%x: tensor<?x16x64xbf16>, %w: tensor<32x64xbf16>, %b: tensor<32xbf16>) -> (tensor<32x64xbf16>, tensor<?x16x64xbf16>, tensor<64x64xbf16>)
forward {
  %0 = fuseops.linear %x, %w : (tensor<?x16x64xbf16>, tensor<32x64xbf16>) -> tensor<?x16x32xbf16>
  %1 = fuseops.linear %x, %w bias(%b) : (tensor<?x16x64xbf16>, tensor<32x64xbf16>, tensor<32xbf16>) -> tensor<?x16x32xbf16>
  %2 = fuseops.matmul %0, %x transpose_lhs : tensor<?x16x32xbf16>, tensor<?x16x64xbf16> -> tensor<32x64xbf16>
  %3 = fuseops.matmul %1, %w : tensor<?x16x32xbf16>, tensor<32x64xbf16> -> tensor<?x16x64xbf16>
  %4 = fuseops.matmul %x, %w transpose_rhs : tensor<?x16x64xbf16>, tensor<32x64xbf16> -> tensor<?x16x32xbf16>
  %5 = fuseops.matmul %x, %x transpose_lhs : tensor<?x16x64xbf16>, tensor<?x16x64xbf16> -> tensor<64x64xbf16>
  %6 = fuseops.matmul %5, %5 transpose_lhs transpose_rhs : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
  fuseops.return %2, %3, %6 : tensor<32x64xbf16>, tensor<?x16x64xbf16>, tensor<64x64xbf16>
}

// CHECK-LABEL: fuseops.fusible @layout(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x2x4xi32>) -> tensor<?x10xi32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<?x2x4xi32> -> tensor<?x8xi32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.slice %[[V0]] dim(1) offset(3) : tensor<?x8xi32> -> tensor<?x2xi32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.concat %[[V0]], %[[V1]] dim(1) : (tensor<?x8xi32>, tensor<?x2xi32>) -> tensor<?x10xi32>
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<?x10xi32>
// CHECK-NEXT: }
fuseops.fusible @layout(%x: tensor<?x2x4xi32>) -> tensor<?x10xi32>
forward {
  %0 = fuseops.reshape %x : tensor<?x2x4xi32> -> tensor<?x8xi32>
  %1 = fuseops.slice %0 dim(1) offset(3) : tensor<?x8xi32> -> tensor<?x2xi32>
  %2 = fuseops.concat %0, %1 dim(1) : (tensor<?x8xi32>, tensor<?x2xi32>) -> tensor<?x10xi32>
  fuseops.return %2 : tensor<?x10xi32>
}

// CHECK-LABEL: fuseops.fusible @quantization(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x64xbf16>) -> tensor<?x64xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.amax %[[ARG0]] : tensor<?x64xbf16> -> tensor<f32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.compute_scale %[[V0]] format(f8E4M3FN) : tensor<f32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.compute_scale %[[V0]] format(f8E5M2) power_of_two : tensor<f32>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.quantize %[[ARG0]] scale(%[[V1]]) : (tensor<?x64xbf16>, tensor<f32>) -> !fuseops.quantized<?x64xf8E4M3FN, scale = per_tensor, copies = row>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.dequantize %[[V3]] : <?x64xf8E4M3FN, scale = per_tensor, copies = row> -> tensor<?x64xf32>
// CHECK-NEXT:   %[[V5:.+]] = fuseops.quantize %[[V4]] : (tensor<?x64xf32>) -> !fuseops.quantized<?x64xf8E5M2, scale = per_row, copies = row>
// CHECK-NEXT:   %[[V6:.+]]:2 = fuseops.unpack_quantized %[[V5]] : (!fuseops.quantized<?x64xf8E5M2, scale = per_row, copies = row>) -> (tensor<?x64xf8E5M2>, tensor<?x1xf32>)
// CHECK-NEXT:   %[[V7:.+]] = fuseops.pack_quantized %[[V6]]#0, %[[V6]]#1 : (tensor<?x64xf8E5M2>, tensor<?x1xf32>) -> !fuseops.quantized<?x64xf8E5M2, scale = per_row, copies = row>
// CHECK-NEXT:   %[[V8:.+]] = fuseops.dequantize %[[V7]] : <?x64xf8E5M2, scale = per_row, copies = row> -> tensor<?x64xf32>
// CHECK-NEXT:   fuseops.return %[[V8]] : tensor<?x64xf32>
// CHECK-NEXT: }
fuseops.fusible @quantization(%x: tensor<?x64xbf16>) -> tensor<?x64xf32>
forward {
  %0 = fuseops.amax %x : tensor<?x64xbf16> -> tensor<f32>
  %1 = fuseops.compute_scale %0 format(f8E4M3FN) : tensor<f32>
  %2 = fuseops.compute_scale %0 format(f8E5M2) power_of_two : tensor<f32>
  %3 = fuseops.quantize %x scale(%1) : (tensor<?x64xbf16>, tensor<f32>) -> !fuseops.quantized<?x64xf8E4M3FN, scale = per_tensor, copies = row>
  %4 = fuseops.dequantize %3 : !fuseops.quantized<?x64xf8E4M3FN, scale = per_tensor, copies = row> -> tensor<?x64xf32>
  %5 = fuseops.quantize %4 : (tensor<?x64xf32>) -> !fuseops.quantized<?x64xf8E5M2, scale = per_row, copies = row>
  %6:2 = fuseops.unpack_quantized %5 : (!fuseops.quantized<?x64xf8E5M2, scale = per_row, copies = row>) -> (tensor<?x64xf8E5M2>, tensor<?x1xf32>)
  %7 = fuseops.pack_quantized %6#0, %6#1 : (tensor<?x64xf8E5M2>, tensor<?x1xf32>) -> !fuseops.quantized<?x64xf8E5M2, scale = per_row, copies = row>
  %8 = fuseops.dequantize %7 : !fuseops.quantized<?x64xf8E5M2, scale = per_row, copies = row> -> tensor<?x64xf32>
  fuseops.return %8 : tensor<?x64xf32>
}

// CHECK-LABEL: fuseops.fusible @more_activations(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>, %[[ARG1:.+]]: tensor<?x1xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.qgelu %[[ARG0]] : tensor<?x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.srelu %[[V0]] : tensor<?x8xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.srelu %[[V1]] scale(%[[ARG1]]) : tensor<?x8xf32>, tensor<?x1xf32>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.identity %[[V2]] : tensor<?x8xf32>
// CHECK-NEXT:   fuseops.return %[[V3]] : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @more_activations(%x: tensor<?x8xf32>, %s: tensor<?x1xf32>) -> tensor<?x8xf32>
forward {
  %0 = fuseops.qgelu %x : tensor<?x8xf32>
  %1 = fuseops.srelu %0 : tensor<?x8xf32>
  %2 = fuseops.srelu %1 scale(%s) : tensor<?x8xf32>, tensor<?x1xf32>
  %3 = fuseops.identity %2 : tensor<?x8xf32>
  fuseops.return %3 : tensor<?x8xf32>
}

// CHECK-LABEL: fuseops.fusible @l2_norm(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>) -> (tensor<?x8xbf16>, tensor<?x1xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[RESULT:.+]], %[[RECIPROCAL_NORM:.+]] = fuseops.l2_norm %[[ARG0]] eps(5.000000e-01) : tensor<?x8xbf16> -> (tensor<?x8xbf16>, tensor<?x1xf32>)
// CHECK-NEXT:   fuseops.return %[[RESULT]], %[[RECIPROCAL_NORM]] : tensor<?x8xbf16>, tensor<?x1xf32>
// CHECK-NEXT: }
fuseops.fusible @l2_norm(%x: tensor<?x8xbf16>) -> (tensor<?x8xbf16>, tensor<?x1xf32>)
forward {
  %0, %1 = fuseops.l2_norm %x eps(0.5) : tensor<?x8xbf16> -> (tensor<?x8xbf16>, tensor<?x1xf32>)
  fuseops.return %0, %1 : tensor<?x8xbf16>, tensor<?x1xf32>
}

// CHECK-LABEL: fuseops.fusible @rotary_embedding(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x4x2x8xbf16>, %[[ARG1:.+]]: tensor<4x1x4xf32>, %[[ARG2:.+]]: tensor<4x1x4xf32>) -> tensor<?x4x2x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.rotary_embedding %[[ARG0]], %[[ARG1]], %[[ARG2]] pairs(half) : tensor<?x4x2x8xbf16>, tensor<4x1x4xf32>, tensor<4x1x4xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.rotary_embedding %[[V0]], %[[ARG1]], %[[ARG2]] pairs(interleaved) conjugate : tensor<?x4x2x8xbf16>, tensor<4x1x4xf32>, tensor<4x1x4xf32>
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<?x4x2x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @rotary_embedding(%x: tensor<?x4x2x8xbf16>, %c: tensor<4x1x4xf32>, %s: tensor<4x1x4xf32>) -> tensor<?x4x2x8xbf16>
forward {
  %0 = fuseops.rotary_embedding %x, %c, %s pairs(half) : tensor<?x4x2x8xbf16>, tensor<4x1x4xf32>, tensor<4x1x4xf32>
  %1 = fuseops.rotary_embedding %0, %c, %s pairs(interleaved) conjugate : tensor<?x4x2x8xbf16>, tensor<4x1x4xf32>, tensor<4x1x4xf32>
  fuseops.return %1 : tensor<?x4x2x8xbf16>
}
