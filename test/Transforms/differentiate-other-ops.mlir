// The gradient rules of norms, reductions, contractions, layout, quantization.
// RUN: fuse-opt %s --fuseops-differentiate | FileCheck %s

// CHECK-LABEL: fuseops.fusible @layer_norm(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<8xbf16>, %[[ARG2:.+]]: tensor<8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[RESULT:.+]], %[[MEAN:.+]], %[[RSTD:.+]] = fuseops.layer_norm %[[ARG0]] gamma(%[[ARG1]]) beta(%[[ARG2]]) eps(1.000000e-05) zero_centered_gamma : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
// CHECK-NEXT:   fuseops.return %[[RESULT]] save(%[[ARG0]], %[[MEAN]], %[[RSTD]], %[[ARG1]]) : tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>, saved %[[ARG1:.+]]: tensor<?x8xbf16>, saved %[[ARG2:.+]]: tensor<?x1xf32>, saved %[[ARG3:.+]]: tensor<?x1xf32>, saved %[[ARG4:.+]]: tensor<8xbf16>) {
// CHECK-NEXT:   %[[RESULT:.+]], %[[GAMMAGRADIENT:.+]] = fuseops.layer_norm_grad %[[ARG0]], %[[ARG1]], %[[ARG2]], %[[ARG3]] gamma(%[[ARG4]]) zero_centered_gamma : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<8xbf16>)
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reduce_rows sum %[[ARG0]] : tensor<?x8xbf16> -> tensor<8xbf16>
// CHECK-NEXT:   fuseops.return %[[RESULT]], %[[GAMMAGRADIENT]], %[[V0]] : tensor<?x8xbf16>, tensor<8xbf16>, tensor<8xbf16>
// CHECK-NEXT: }
fuseops.fusible @layer_norm(%x: tensor<?x8xbf16>, %g: tensor<8xbf16>, %b: tensor<8xbf16>) -> tensor<?x8xbf16>
forward {
  %y, %m, %r = fuseops.layer_norm %x gamma(%g) beta(%b) eps(1.0e-5) zero_centered_gamma : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
  fuseops.return %y : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @layer_norm_beta_only(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16> {fuseops.frozen}, %[[ARG1:.+]]: tensor<8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[RESULT:.+]], %[[MEAN:.+]], %[[RSTD:.+]] = fuseops.layer_norm %[[ARG0]] beta(%[[ARG1]]) eps(1.000000e-05) : (tensor<?x8xbf16>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
// CHECK-NEXT:   fuseops.return %[[RESULT]] : tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reduce_rows sum %[[ARG0]] : tensor<?x8xbf16> -> tensor<8xbf16>
// CHECK-NEXT:   fuseops.return none, %[[V0]] : tensor<8xbf16>
// CHECK-NEXT: }
fuseops.fusible @layer_norm_beta_only(%x: tensor<?x8xbf16> {fuseops.frozen}, %b: tensor<8xbf16>) -> tensor<?x8xbf16>
forward {
  %y, %m, %r = fuseops.layer_norm %x beta(%b) eps(1.0e-5) : (tensor<?x8xbf16>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
  fuseops.return %y : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @rms_norm(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[RESULT:.+]], %[[RSTD:.+]] = fuseops.rms_norm %[[ARG0]] gamma(%[[ARG1]]) eps(1.000000e-05) : (tensor<?x8xbf16>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x1xf32>)
// CHECK-NEXT:   fuseops.return %[[RESULT]] save(%[[ARG0]], %[[RSTD]], %[[ARG1]]) : tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x1xf32>, tensor<8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>, saved %[[ARG1:.+]]: tensor<?x8xbf16>, saved %[[ARG2:.+]]: tensor<?x1xf32>, saved %[[ARG3:.+]]: tensor<8xbf16>) {
// CHECK-NEXT:   %[[RESULT:.+]], %[[GAMMAGRADIENT:.+]] = fuseops.rms_norm_grad %[[ARG0]], %[[ARG1]], %[[ARG2]] gamma(%[[ARG3]]) : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x1xf32>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<8xbf16>)
// CHECK-NEXT:   fuseops.return %[[RESULT]], %[[GAMMAGRADIENT]] : tensor<?x8xbf16>, tensor<8xbf16>
// CHECK-NEXT: }
fuseops.fusible @rms_norm(%x: tensor<?x8xbf16>, %g: tensor<8xbf16>) -> tensor<?x8xbf16>
forward {
  %y, %r = fuseops.rms_norm %x gamma(%g) eps(1.0e-5) : (tensor<?x8xbf16>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x1xf32>)
  fuseops.return %y : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @rms_norm_no_gamma(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[RESULT:.+]], %[[RSTD:.+]] = fuseops.rms_norm %[[ARG0]] eps(1.000000e-05) : (tensor<?x8xbf16>) -> (tensor<?x8xbf16>, tensor<?x1xf32>)
// CHECK-NEXT:   fuseops.return %[[RESULT]] save(%[[ARG0]], %[[RSTD]]) : tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x1xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>, saved %[[ARG1:.+]]: tensor<?x8xbf16>, saved %[[ARG2:.+]]: tensor<?x1xf32>) {
// CHECK-NEXT:   %[[RESULT:.+]] = fuseops.rms_norm_grad %[[ARG0]], %[[ARG1]], %[[ARG2]] : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x1xf32>) -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[RESULT]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @rms_norm_no_gamma(%x: tensor<?x8xbf16>) -> tensor<?x8xbf16>
forward {
  %y, %r = fuseops.rms_norm %x eps(1.0e-5) : (tensor<?x8xbf16>) -> (tensor<?x8xbf16>, tensor<?x1xf32>)
  fuseops.return %y : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @reduce_rows(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>) -> tensor<8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reduce_rows sum %[[ARG0]] : tensor<?x8xbf16> -> tensor<8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<8xf32>) -> tensor<?x8xbf16> {
// CHECK-NEXT:     fuseops.yield %[[ARG1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @reduce_rows(%x: tensor<?x8xbf16>) -> tensor<8xf32>
forward {
  %y = fuseops.reduce_rows sum %x : tensor<?x8xbf16> -> tensor<8xf32>
  fuseops.return %y : tensor<8xf32>
}

// CHECK-LABEL: fuseops.fusible @reduce_columns(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>) -> tensor<?x1xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reduce_columns sum %[[ARG0]] : tensor<?x8xbf16> -> tensor<?x1xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x1xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x1xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<?x1xf32>) -> tensor<?x8xbf16> {
// CHECK-NEXT:     fuseops.yield %[[ARG1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @reduce_columns(%x: tensor<?x8xbf16>) -> tensor<?x1xf32>
forward {
  %y = fuseops.reduce_columns sum %x : tensor<?x8xbf16> -> tensor<?x1xf32>
  fuseops.return %y : tensor<?x1xf32>
}

// CHECK-LABEL: fuseops.fusible @linear(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x16x8xbf16>, %[[ARG1:.+]]: tensor<4x8xbf16>, %[[ARG2:.+]]: tensor<4xbf16>) -> tensor<?x16x4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.linear %[[ARG0]], %[[ARG1]] bias(%[[ARG2]]) : (tensor<?x16x8xbf16>, tensor<4x8xbf16>, tensor<4xbf16>) -> tensor<?x16x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG1]], %[[ARG0]]) : tensor<?x16x4xbf16>, tensor<4x8xbf16>, tensor<?x16x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x16x4xbf16>, saved %[[ARG1:.+]]: tensor<4x8xbf16>, saved %[[ARG2:.+]]: tensor<?x16x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.matmul %[[ARG0]], %[[ARG1]] : tensor<?x16x4xbf16>, tensor<4x8xbf16> -> tensor<?x16x8xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.matmul %[[ARG0]], %[[ARG2]] transpose_lhs : tensor<?x16x4xbf16>, tensor<?x16x8xbf16> -> tensor<4x8xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.reduce_rows sum %[[ARG0]] : tensor<?x16x4xbf16> -> tensor<4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V1]], %[[V2]] : tensor<?x16x8xbf16>, tensor<4x8xbf16>, tensor<4xbf16>
// CHECK-NEXT: }
fuseops.fusible @linear(%x: tensor<?x16x8xbf16>, %w: tensor<4x8xbf16>, %b: tensor<4xbf16>) -> tensor<?x16x4xbf16>
forward {
  %y = fuseops.linear %x, %w bias(%b) : (tensor<?x16x8xbf16>, tensor<4x8xbf16>, tensor<4xbf16>) -> tensor<?x16x4xbf16>
  fuseops.return %y : tensor<?x16x4xbf16>
}

// CHECK-LABEL: fuseops.fusible @linear_frozen_weight(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<4x8xbf16> {fuseops.frozen}) -> tensor<?x4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.linear %[[ARG0]], %[[ARG1]] : (tensor<?x8xbf16>, tensor<4x8xbf16>) -> tensor<?x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG1]]) : tensor<?x4xbf16>, tensor<4x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x4xbf16>, saved %[[ARG1:.+]]: tensor<4x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.matmul %[[ARG0]], %[[ARG1]] : tensor<?x4xbf16>, tensor<4x8xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]], none : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @linear_frozen_weight(%x: tensor<?x8xbf16>, %w: tensor<4x8xbf16> {fuseops.frozen}) -> tensor<?x4xbf16>
forward {
  %y = fuseops.linear %x, %w : (tensor<?x8xbf16>, tensor<4x8xbf16>) -> tensor<?x4xbf16>
  fuseops.return %y : tensor<?x4xbf16>
}

// CHECK-LABEL: fuseops.fusible @matmul_nn(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<8x4xbf16>) -> tensor<?x4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.matmul %[[ARG0]], %[[ARG1]] : tensor<?x8xbf16>, tensor<8x4xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG1]], %[[ARG0]]) : tensor<?x4xbf16>, tensor<8x4xbf16>, tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x4xbf16>, saved %[[ARG1:.+]]: tensor<8x4xbf16>, saved %[[ARG2:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.matmul %[[ARG0]], %[[ARG1]] transpose_rhs : tensor<?x4xbf16>, tensor<8x4xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.matmul %[[ARG2]], %[[ARG0]] transpose_lhs : tensor<?x8xbf16>, tensor<?x4xbf16> -> tensor<8x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V1]] : tensor<?x8xbf16>, tensor<8x4xbf16>
// CHECK-NEXT: }
fuseops.fusible @matmul_nn(%x: tensor<?x8xbf16>, %y: tensor<8x4xbf16>) -> tensor<?x4xbf16>
forward {
  %z = fuseops.matmul %x, %y : tensor<?x8xbf16>, tensor<8x4xbf16> -> tensor<?x4xbf16>
  fuseops.return %z : tensor<?x4xbf16>
}

// CHECK-LABEL: fuseops.fusible @matmul_nt(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<4x8xbf16>) -> tensor<?x4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.matmul %[[ARG0]], %[[ARG1]] transpose_rhs : tensor<?x8xbf16>, tensor<4x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG1]], %[[ARG0]]) : tensor<?x4xbf16>, tensor<4x8xbf16>, tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x4xbf16>, saved %[[ARG1:.+]]: tensor<4x8xbf16>, saved %[[ARG2:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.matmul %[[ARG0]], %[[ARG1]] : tensor<?x4xbf16>, tensor<4x8xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.matmul %[[ARG0]], %[[ARG2]] transpose_lhs : tensor<?x4xbf16>, tensor<?x8xbf16> -> tensor<4x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V1]] : tensor<?x8xbf16>, tensor<4x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @matmul_nt(%x: tensor<?x8xbf16>, %y: tensor<4x8xbf16>) -> tensor<?x4xbf16>
forward {
  %z = fuseops.matmul %x, %y transpose_rhs : tensor<?x8xbf16>, tensor<4x8xbf16> -> tensor<?x4xbf16>
  fuseops.return %z : tensor<?x4xbf16>
}

// CHECK-LABEL: fuseops.fusible @matmul_tn(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<?x4xbf16>) -> tensor<8x4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.matmul %[[ARG0]], %[[ARG1]] transpose_lhs : tensor<?x8xbf16>, tensor<?x4xbf16> -> tensor<8x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG1]], %[[ARG0]]) : tensor<8x4xbf16>, tensor<?x4xbf16>, tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<8x4xbf16>, saved %[[ARG1:.+]]: tensor<?x4xbf16>, saved %[[ARG2:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.matmul %[[ARG1]], %[[ARG0]] transpose_rhs : tensor<?x4xbf16>, tensor<8x4xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.matmul %[[ARG2]], %[[ARG0]] : tensor<?x8xbf16>, tensor<8x4xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V1]] : tensor<?x8xbf16>, tensor<?x4xbf16>
// CHECK-NEXT: }
fuseops.fusible @matmul_tn(%x: tensor<?x8xbf16>, %y: tensor<?x4xbf16>) -> tensor<8x4xbf16>
forward {
  %z = fuseops.matmul %x, %y transpose_lhs : tensor<?x8xbf16>, tensor<?x4xbf16> -> tensor<8x4xbf16>
  fuseops.return %z : tensor<8x4xbf16>
}

// CHECK-LABEL: fuseops.fusible @matmul_tt(
// CHECK-SAME: %[[ARG0:.+]]: tensor<8x6xbf16>, %[[ARG1:.+]]: tensor<4x8xbf16>) -> tensor<6x4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.matmul %[[ARG0]], %[[ARG1]] transpose_lhs transpose_rhs : tensor<8x6xbf16>, tensor<4x8xbf16> -> tensor<6x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG1]], %[[ARG0]]) : tensor<6x4xbf16>, tensor<4x8xbf16>, tensor<8x6xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<6x4xbf16>, saved %[[ARG1:.+]]: tensor<4x8xbf16>, saved %[[ARG2:.+]]: tensor<8x6xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.matmul %[[ARG1]], %[[ARG0]] transpose_lhs transpose_rhs : tensor<4x8xbf16>, tensor<6x4xbf16> -> tensor<8x6xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.matmul %[[ARG0]], %[[ARG2]] transpose_lhs transpose_rhs : tensor<6x4xbf16>, tensor<8x6xbf16> -> tensor<4x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V1]] : tensor<8x6xbf16>, tensor<4x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @matmul_tt(%x: tensor<8x6xbf16>, %y: tensor<4x8xbf16>) -> tensor<6x4xbf16>
forward {
  %z = fuseops.matmul %x, %y transpose_lhs transpose_rhs : tensor<8x6xbf16>, tensor<4x8xbf16> -> tensor<6x4xbf16>
  fuseops.return %z : tensor<6x4xbf16>
}

// The product of a transposed operand of higher rank is a matrix at first.
// CHECK-LABEL: fuseops.fusible @matmul_tn_rank_3(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x16x8xbf16>, %[[ARG1:.+]]: tensor<?x16x4xbf16>) -> tensor<8x4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.matmul %[[ARG0]], %[[ARG1]] transpose_lhs : tensor<?x16x8xbf16>, tensor<?x16x4xbf16> -> tensor<8x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG1]], %[[ARG0]]) : tensor<8x4xbf16>, tensor<?x16x4xbf16>, tensor<?x16x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<8x4xbf16>, saved %[[ARG1:.+]]: tensor<?x16x4xbf16>, saved %[[ARG2:.+]]: tensor<?x16x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.matmul %[[ARG1]], %[[ARG0]] transpose_rhs : tensor<?x16x4xbf16>, tensor<8x4xbf16> -> tensor<?x16x8xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.matmul %[[ARG2]], %[[ARG0]] : tensor<?x16x8xbf16>, tensor<8x4xbf16> -> tensor<?x16x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V1]] : tensor<?x16x8xbf16>, tensor<?x16x4xbf16>
// CHECK-NEXT: }
fuseops.fusible @matmul_tn_rank_3(%x: tensor<?x16x8xbf16>, %y: tensor<?x16x4xbf16>) -> tensor<8x4xbf16>
forward {
  %z = fuseops.matmul %x, %y transpose_lhs : tensor<?x16x8xbf16>, tensor<?x16x4xbf16> -> tensor<8x4xbf16>
  fuseops.return %z : tensor<8x4xbf16>
}

// CHECK-LABEL: fuseops.fusible @matmul_nn_rank_3_rhs(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<2x4x4xbf16>) -> tensor<?x4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.matmul %[[ARG0]], %[[ARG1]] : tensor<?x8xbf16>, tensor<2x4x4xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG1]], %[[ARG0]]) : tensor<?x4xbf16>, tensor<2x4x4xbf16>, tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x4xbf16>, saved %[[ARG1:.+]]: tensor<2x4x4xbf16>, saved %[[ARG2:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.matmul %[[ARG0]], %[[ARG1]] transpose_rhs : tensor<?x4xbf16>, tensor<2x4x4xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.matmul %[[ARG2]], %[[ARG0]] transpose_lhs : tensor<?x8xbf16>, tensor<?x4xbf16> -> tensor<8x4xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.reshape %[[V1]] : tensor<8x4xbf16> -> tensor<2x4x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V2]] : tensor<?x8xbf16>, tensor<2x4x4xbf16>
// CHECK-NEXT: }
fuseops.fusible @matmul_nn_rank_3_rhs(%x: tensor<?x8xbf16>, %y: tensor<2x4x4xbf16>) -> tensor<?x4xbf16>
forward {
  %z = fuseops.matmul %x, %y : tensor<?x8xbf16>, tensor<2x4x4xbf16> -> tensor<?x4xbf16>
  fuseops.return %z : tensor<?x4xbf16>
}

// CHECK-LABEL: fuseops.fusible @reshape(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x2x4xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<?x2x4xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<?x8xbf16> -> tensor<?x2x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x2x4xbf16>
// CHECK-NEXT: }
fuseops.fusible @reshape(%x: tensor<?x2x4xbf16>) -> tensor<?x8xbf16>
forward {
  %y = fuseops.reshape %x : tensor<?x2x4xbf16> -> tensor<?x8xbf16>
  fuseops.return %y : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @slice(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>) -> tensor<?x4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(3) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x4xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x4xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise () : () -> tensor<?x3xbf16> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     fuseops.yield %[[CST]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.pointwise () : () -> tensor<?x1xbf16> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     fuseops.yield %[[CST]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V2:.+]] = fuseops.concat %[[V0]], %[[ARG0]], %[[V1]] dim(1) : (tensor<?x3xbf16>, tensor<?x4xbf16>, tensor<?x1xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @slice(%x: tensor<?x8xbf16>) -> tensor<?x4xbf16>
forward {
  %y = fuseops.slice %x dim(1) offset(3) : tensor<?x8xbf16> -> tensor<?x4xbf16>
  fuseops.return %y : tensor<?x4xbf16>
}

// CHECK-LABEL: fuseops.fusible @slice_first_columns(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>) -> tensor<?x4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(0) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x4xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x4xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise () : () -> tensor<?x4xbf16> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     fuseops.yield %[[CST]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.concat %[[ARG0]], %[[V0]] dim(1) : (tensor<?x4xbf16>, tensor<?x4xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @slice_first_columns(%x: tensor<?x8xbf16>) -> tensor<?x4xbf16>
forward {
  %y = fuseops.slice %x dim(1) offset(0) : tensor<?x8xbf16> -> tensor<?x4xbf16>
  fuseops.return %y : tensor<?x4xbf16>
}

// CHECK-LABEL: fuseops.fusible @concat(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x3xbf16>, %[[ARG1:.+]]: tensor<?x5xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.concat %[[ARG0]], %[[ARG1]] dim(1) : (tensor<?x3xbf16>, tensor<?x5xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(0) : tensor<?x8xbf16> -> tensor<?x3xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(3) : tensor<?x8xbf16> -> tensor<?x5xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V1]] : tensor<?x3xbf16>, tensor<?x5xbf16>
// CHECK-NEXT: }
fuseops.fusible @concat(%x: tensor<?x3xbf16>, %y: tensor<?x5xbf16>) -> tensor<?x8xbf16>
forward {
  %z = fuseops.concat %x, %y dim(1) : (tensor<?x3xbf16>, tensor<?x5xbf16>) -> tensor<?x8xbf16>
  fuseops.return %z : tensor<?x8xbf16>
}

// The gradient passes through quantize and dequantize.
// CHECK-LABEL: fuseops.fusible @quantize(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<f32> {fuseops.frozen}) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.quantize %[[ARG0]] scale(%[[ARG1]]) : (tensor<4x8xf32>, tensor<f32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.dequantize %[[V0]] : <4x8xf8E4M3FN, scale = per_tensor, copies = row> -> tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   fuseops.return %[[ARG0]], none : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @quantize(%x: tensor<4x8xf32>, %s: tensor<f32> {fuseops.frozen}) -> tensor<4x8xf32>
forward {
  %q = fuseops.quantize %x scale(%s) : (tensor<4x8xf32>, tensor<f32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>
  %y = fuseops.dequantize %q : !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row> -> tensor<4x8xf32>
  fuseops.return %y : tensor<4x8xf32>
}

// Straight through the rounding. A product of backward that would read a copy
// that is not there reads the dequantized values.
// CHECK-LABEL: fuseops.fusible @quantized_linear(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xbf16>, %[[ARG1:.+]]: !fuseops.quantized<2x8xf8E4M3FN, scale = per_row, copies = row>) -> tensor<4x2xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.quantize %[[ARG0]] : (tensor<4x8xbf16>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.linear %[[V0]], %[[ARG1]] : (!fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<2x8xf8E4M3FN, scale = per_row, copies = row>) -> tensor<4x2xbf16>
// CHECK-NEXT:   fuseops.return %[[V1]] save(%[[ARG1]]) : tensor<4x2xbf16>, !fuseops.quantized<2x8xf8E4M3FN, scale = per_row, copies = row>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x2xbf16>, saved %[[ARG1:.+]]: !fuseops.quantized<2x8xf8E4M3FN, scale = per_row, copies = row>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.dequantize %[[ARG1]] : <2x8xf8E4M3FN, scale = per_row, copies = row> -> tensor<2x8xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.matmul %[[ARG0]], %[[V0]] : tensor<4x2xbf16>, tensor<2x8xbf16> -> tensor<4x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V1]], none : tensor<4x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @quantized_linear(%x: tensor<4x8xbf16>, %w: !fuseops.quantized<2x8xf8E4M3FN, scale = per_row, copies = row>) -> tensor<4x2xbf16>
forward {
  %q = fuseops.quantize %x : (tensor<4x8xbf16>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row>
  %y = fuseops.linear %q, %w : (!fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<2x8xf8E4M3FN, scale = per_row, copies = row>) -> tensor<4x2xbf16>
  fuseops.return %y : tensor<4x2xbf16>
}

// Transposed copies are read where they are.
// CHECK-LABEL: fuseops.fusible @both_copies(
// CHECK: backward (%[[DY:.+]]: tensor<4x2xbf16>, saved %[[W:.+]]: !fuseops.quantized<2x8xf8E4M3FN, scale = per_tensor, copies = row_col>, saved %[[X:.+]]: !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row_col>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.matmul %[[DY]], %[[W]] : tensor<4x2xbf16>, !fuseops.quantized<2x8xf8E4M3FN, scale = per_tensor, copies = row_col> -> tensor<4x8xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.matmul %[[DY]], %[[X]] transpose_lhs : tensor<4x2xbf16>, !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row_col> -> tensor<2x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V1]], none : tensor<4x8xbf16>, tensor<2x8xbf16>
fuseops.fusible @both_copies(%x: tensor<4x8xbf16>, %w: tensor<2x8xbf16>, %s: tensor<f32> {fuseops.frozen}) -> tensor<4x2xbf16>
forward {
  %q = fuseops.quantize %x : (tensor<4x8xbf16>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row_col>
  %v = fuseops.quantize %w scale(%s) : (tensor<2x8xbf16>, tensor<f32>) -> !fuseops.quantized<2x8xf8E4M3FN, scale = per_tensor, copies = row_col>
  %y = fuseops.matmul %q, %v transpose_rhs : !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row_col>, !fuseops.quantized<2x8xf8E4M3FN, scale = per_tensor, copies = row_col> -> tensor<4x2xbf16>
  fuseops.return %y : tensor<4x2xbf16>
}

// dx is dy w with w's row copy only, dw is dy^T x with x's row copy only.
// CHECK-LABEL: fuseops.fusible @row_copies(
// CHECK: backward (
// CHECK-NEXT:   %[[V0:.+]] = fuseops.dequantize %[[W:.+]] : <2x8xf8E4M3FN, scale = per_tensor, copies = row> -> tensor<2x8xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.matmul %[[DY:.+]], %[[V0]] : tensor<4x2xbf16>, tensor<2x8xbf16> -> tensor<4x8xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.dequantize %[[X:.+]] : <4x8xf8E4M3FN, scale = per_row, copies = row> -> tensor<4x8xbf16>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.matmul %[[DY]], %[[V2]] transpose_lhs : tensor<4x2xbf16>, tensor<4x8xbf16> -> tensor<2x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V1]], %[[V3]], none : tensor<4x8xbf16>, tensor<2x8xbf16>
fuseops.fusible @row_copies(%x: tensor<4x8xbf16>, %w: tensor<2x8xbf16>, %s: tensor<f32> {fuseops.frozen}) -> tensor<4x2xbf16>
forward {
  %q = fuseops.quantize %x : (tensor<4x8xbf16>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row>
  %v = fuseops.quantize %w scale(%s) : (tensor<2x8xbf16>, tensor<f32>) -> !fuseops.quantized<2x8xf8E4M3FN, scale = per_tensor, copies = row>
  %y = fuseops.matmul %q, %v transpose_rhs : !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<2x8xf8E4M3FN, scale = per_tensor, copies = row> -> tensor<4x2xbf16>
  fuseops.return %y : tensor<4x2xbf16>
}
