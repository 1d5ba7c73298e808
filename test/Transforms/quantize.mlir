// RUN: fuse-opt %s --fuseops-quantize | FileCheck %s

// Activations and gradients get scales of 1x128, weights of 128x128; each product
// reads the copies in which the contracted elements lie side by side.
// CHECK-LABEL: fuseops.fusible @block(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x32xbf16>, %[[ARG1:.+]]: tensor<64x32xbf16> {fuseops.weight}) -> tensor<?x64xbf16> attributes {fuseops.recipe = #fuseops.recipe<block>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.quantize %[[ARG0]] {power_of_two} : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = row>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.quantize %[[ARG1]] {power_of_two} : (tensor<64x32xbf16>) -> !fuseops.quantized<64x32xf8E4M3FN, scale = block<128x128>, copies = row>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.linear %[[V0]], %[[V1]] : (!fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<64x32xf8E4M3FN, scale = block<128x128>, copies = row>) -> tensor<?x64xbf16>
// CHECK-NEXT:   fuseops.return %[[V2]] save(%[[ARG0]], %[[ARG1]]) : tensor<?x64xbf16>, tensor<?x32xbf16>, tensor<64x32xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x64xbf16>, saved %[[ARG1:.+]]: tensor<?x32xbf16>, saved %[[ARG2:.+]]: tensor<64x32xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.quantize %[[ARG0]] {power_of_two} : (tensor<?x64xbf16>) -> !fuseops.quantized<?x64xf8E4M3FN, scale = block<1x128>, copies = row>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.quantize %[[ARG2]] {power_of_two} : (tensor<64x32xbf16>) -> !fuseops.quantized<64x32xf8E4M3FN, scale = block<128x128>, copies = col>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.matmul %[[V0]], %[[V1]] : !fuseops.quantized<?x64xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<64x32xf8E4M3FN, scale = block<128x128>, copies = col> -> tensor<?x32xbf16>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.quantize %[[ARG0]] {power_of_two} : (tensor<?x64xbf16>) -> !fuseops.quantized<?x64xf8E4M3FN, scale = block<1x128>, copies = col>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.quantize %[[ARG1]] {power_of_two} : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col>
// CHECK-NEXT:   %[[V5:.+]] = fuseops.matmul %[[V3]], %[[V4]] transpose_lhs : !fuseops.quantized<?x64xf8E4M3FN, scale = block<1x128>, copies = col>, !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = col> -> tensor<64x32xbf16>
// CHECK-NEXT:   fuseops.return %[[V2]], %[[V5]] : tensor<?x32xbf16>, tensor<64x32xbf16>
// CHECK-NEXT: }
fuseops.fusible @block(%x: tensor<?x32xbf16>, %w: tensor<64x32xbf16>) -> tensor<?x64xbf16> attributes {fuseops.recipe = #fuseops.recipe<block>}
forward {
  %y = fuseops.linear %x, %w : (tensor<?x32xbf16>, tensor<64x32xbf16>) -> tensor<?x64xbf16>
  fuseops.return %y save(%x, %w) : tensor<?x64xbf16>, tensor<?x32xbf16>, tensor<64x32xbf16>
}
backward (%dy: tensor<?x64xbf16>, saved %x: tensor<?x32xbf16>, saved %w: tensor<64x32xbf16>) {
  %dx = fuseops.matmul %dy, %w : tensor<?x64xbf16>, tensor<64x32xbf16> -> tensor<?x32xbf16>
  %dw = fuseops.matmul %dy, %x transpose_lhs : tensor<?x64xbf16>, tensor<?x32xbf16> -> tensor<64x32xbf16>
  fuseops.return %dx, %dw : tensor<?x32xbf16>, tensor<64x32xbf16>
}

// One scale a tensor and format; gradients are E5M2, and backward accumulates
// precisely.
// CHECK-LABEL: fuseops.fusible @current(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x32xf32>, %[[ARG1:.+]]: tensor<64x32xf32> {fuseops.weight}) -> tensor<?x64xf32> attributes {fuseops.recipe = #fuseops.recipe<current>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.amax %[[ARG1]] : tensor<64x32xf32> -> tensor<f32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.compute_scale %[[V0]] format(f8E4M3FN) : tensor<f32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.amax %[[ARG0]] : tensor<?x32xf32> -> tensor<f32>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.compute_scale %[[V2]] format(f8E4M3FN) : tensor<f32>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.quantize %[[ARG0]] scale(%[[V3]]) : (tensor<?x32xf32>, tensor<f32>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = row>
// CHECK-NEXT:   %[[V5:.+]] = fuseops.quantize %[[ARG1]] scale(%[[V1]]) : (tensor<64x32xf32>, tensor<f32>) -> !fuseops.quantized<64x32xf8E4M3FN, scale = per_tensor, copies = row>
// CHECK-NEXT:   %[[V6:.+]] = fuseops.linear %[[V4]], %[[V5]] {fast_accumulate} : (!fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = row>, !fuseops.quantized<64x32xf8E4M3FN, scale = per_tensor, copies = row>) -> tensor<?x64xf32>
// CHECK-NEXT:   fuseops.return %[[V6]] save(%[[ARG0]], %[[ARG1]], %[[V1]], %[[V3]]) : tensor<?x64xf32>, tensor<?x32xf32>, tensor<64x32xf32>, tensor<f32>, tensor<f32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x64xf32>, saved %[[ARG1:.+]]: tensor<?x32xf32>, saved %[[ARG2:.+]]: tensor<64x32xf32>, saved %[[ARG3:.+]]: tensor<f32>, saved %[[ARG4:.+]]: tensor<f32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.amax %[[ARG0]] : tensor<?x64xf32> -> tensor<f32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.compute_scale %[[V0]] format(f8E5M2) : tensor<f32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.quantize %[[ARG0]] scale(%[[V1]]) : (tensor<?x64xf32>, tensor<f32>) -> !fuseops.quantized<?x64xf8E5M2, scale = per_tensor, copies = row>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.quantize %[[ARG2]] scale(%[[ARG3]]) : (tensor<64x32xf32>, tensor<f32>) -> !fuseops.quantized<64x32xf8E4M3FN, scale = per_tensor, copies = col>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.matmul %[[V2]], %[[V3]] : !fuseops.quantized<?x64xf8E5M2, scale = per_tensor, copies = row>, !fuseops.quantized<64x32xf8E4M3FN, scale = per_tensor, copies = col> -> tensor<?x32xf32>
// CHECK-NEXT:   %[[V5:.+]] = fuseops.quantize %[[ARG0]] scale(%[[V1]]) : (tensor<?x64xf32>, tensor<f32>) -> !fuseops.quantized<?x64xf8E5M2, scale = per_tensor, copies = col>
// CHECK-NEXT:   %[[V6:.+]] = fuseops.quantize %[[ARG1]] scale(%[[ARG4]]) : (tensor<?x32xf32>, tensor<f32>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = col>
// CHECK-NEXT:   %[[V7:.+]] = fuseops.matmul %[[V5]], %[[V6]] transpose_lhs : !fuseops.quantized<?x64xf8E5M2, scale = per_tensor, copies = col>, !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = col> -> tensor<64x32xf32>
// CHECK-NEXT:   fuseops.return %[[V4]], %[[V7]] : tensor<?x32xf32>, tensor<64x32xf32>
// CHECK-NEXT: }
fuseops.fusible @current(%x: tensor<?x32xf32>, %w: tensor<64x32xf32>) -> tensor<?x64xf32> attributes {fuseops.recipe = #fuseops.recipe<current>}
forward {
  %y = fuseops.linear %x, %w : (tensor<?x32xf32>, tensor<64x32xf32>) -> tensor<?x64xf32>
  fuseops.return %y save(%x, %w) : tensor<?x64xf32>, tensor<?x32xf32>, tensor<64x32xf32>
}
backward (%dy: tensor<?x64xf32>, saved %x: tensor<?x32xf32>, saved %w: tensor<64x32xf32>) {
  %dx = fuseops.matmul %dy, %w : tensor<?x64xf32>, tensor<64x32xf32> -> tensor<?x32xf32>
  %dw = fuseops.matmul %dy, %x transpose_lhs : tensor<?x64xf32>, tensor<?x32xf32> -> tensor<64x32xf32>
  fuseops.return %dx, %dw : tensor<?x32xf32>, tensor<64x32xf32>
}

// State of activations, of weights and of gradients.
// CHECK-LABEL: fuseops.fusible @delayed(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x32xbf16>, %[[ARG1:.+]]: tensor<64x32xbf16> {fuseops.weight}, %[[ARG2:.+]]: tensor<32x64xbf16> {fuseops.weight}, %[[ARG3:.+]]: tensor<2xf32> {fuseops.frozen, fuseops.state = 1 : i64, fuseops.tensors = ["fc1.input", "fc2.input"]}, %[[ARG4:.+]]: tensor<4x2xf32> {fuseops.frozen, fuseops.state = 2 : i64}, %[[ARG5:.+]]: tensor<2xf32> {fuseops.frozen, fuseops.state = 3 : i64, fuseops.tensors = ["fc1.weight", "fc2.weight"], fuseops.weight}, %[[ARG6:.+]]: tensor<4x2xf32> {fuseops.frozen, fuseops.state = 4 : i64, fuseops.weight}, %[[ARG7:.+]]: tensor<1xf32> {fuseops.state, fuseops.tensors = ["fc2.output_gradient"]}, %[[ARG8:.+]]: tensor<4x1xf32> {fuseops.state}) -> (tensor<?x32xbf16>, tensor<2xf32>, tensor<4x2xf32>, tensor<2xf32>, tensor<4x2xf32>) attributes {frozen_results = array<i64: 1, 2, 3, 4>, fuseops.recipe = #fuseops.recipe<delayed, margin = 1, history = 4, amax_algorithm = most_recent>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.amax %[[ARG2]] : tensor<32x64xbf16> -> tensor<f32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reshape %[[V0]] : tensor<f32> -> tensor<1xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.amax %[[ARG1]] : tensor<64x32xbf16> -> tensor<f32>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.reshape %[[V2]] : tensor<f32> -> tensor<1xf32>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.slice %[[ARG5]] dim(0) offset(0) : tensor<2xf32> -> tensor<1xf32>
// CHECK-NEXT:   %[[V5:.+]] = fuseops.reshape %[[V4]] : tensor<1xf32> -> tensor<f32>
// CHECK-NEXT:   %[[V6:.+]] = fuseops.slice %[[ARG5]] dim(0) offset(1) : tensor<2xf32> -> tensor<1xf32>
// CHECK-NEXT:   %[[V7:.+]] = fuseops.reshape %[[V6]] : tensor<1xf32> -> tensor<f32>
// CHECK-NEXT:   %[[V8:.+]] = fuseops.amax %[[ARG0]] : tensor<?x32xbf16> -> tensor<f32>
// CHECK-NEXT:   %[[V9:.+]] = fuseops.reshape %[[V8]] : tensor<f32> -> tensor<1xf32>
// CHECK-NEXT:   %[[V10:.+]] = fuseops.slice %[[ARG3]] dim(0) offset(0) : tensor<2xf32> -> tensor<1xf32>
// CHECK-NEXT:   %[[V11:.+]] = fuseops.reshape %[[V10]] : tensor<1xf32> -> tensor<f32>
// CHECK-NEXT:   %[[V12:.+]] = fuseops.slice %[[ARG3]] dim(0) offset(1) : tensor<2xf32> -> tensor<1xf32>
// CHECK-NEXT:   %[[V13:.+]] = fuseops.reshape %[[V12]] : tensor<1xf32> -> tensor<f32>
// CHECK-NEXT:   %[[V14:.+]] = fuseops.quantize %[[ARG0]] scale(%[[V11]]) : (tensor<?x32xbf16>, tensor<f32>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = row>
// CHECK-NEXT:   %[[V15:.+]] = fuseops.quantize %[[ARG1]] scale(%[[V5]]) : (tensor<64x32xbf16>, tensor<f32>) -> !fuseops.quantized<64x32xf8E4M3FN, scale = per_tensor, copies = row>
// CHECK-NEXT:   %[[V16:.+]] = fuseops.linear %[[V14]], %[[V15]] {fast_accumulate, fuseops.name = "fc1"} : (!fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = row>, !fuseops.quantized<64x32xf8E4M3FN, scale = per_tensor, copies = row>) -> tensor<?x64xbf16>
// CHECK-NEXT:   %[[V17:.+]] = fuseops.amax %[[V16]] : tensor<?x64xbf16> -> tensor<f32>
// CHECK-NEXT:   %[[V18:.+]] = fuseops.reshape %[[V17]] : tensor<f32> -> tensor<1xf32>
// CHECK-NEXT:   %[[V19:.+]] = fuseops.quantize %[[V16]] scale(%[[V13]]) : (tensor<?x64xbf16>, tensor<f32>) -> !fuseops.quantized<?x64xf8E4M3FN, scale = per_tensor, copies = row>
// CHECK-NEXT:   %[[V20:.+]] = fuseops.quantize %[[ARG2]] scale(%[[V7]]) : (tensor<32x64xbf16>, tensor<f32>) -> !fuseops.quantized<32x64xf8E4M3FN, scale = per_tensor, copies = row>
// CHECK-NEXT:   %[[V21:.+]] = fuseops.linear %[[V19]], %[[V20]] {fast_accumulate, fuseops.name = "fc2"} : (!fuseops.quantized<?x64xf8E4M3FN, scale = per_tensor, copies = row>, !fuseops.quantized<32x64xf8E4M3FN, scale = per_tensor, copies = row>) -> tensor<?x32xbf16>
// CHECK-NEXT:   %[[V22:.+]] = fuseops.concat %[[V9]], %[[V18]] dim(0) : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
// CHECK-NEXT:   %[[NEXT_SCALE:.+]], %[[NEXT_HISTORY:.+]] = fuseops.update_scale %[[ARG3]], %[[ARG4]], %[[V22]] format(f8E4M3FN) most_recent {margin = 1 : i64} : tensor<2xf32>, tensor<4x2xf32>
// CHECK-NEXT:   %[[V23:.+]] = fuseops.concat %[[V3]], %[[V1]] dim(0) : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
// CHECK-NEXT:   %[[NEXT_SCALE_0:.+]], %[[NEXT_HISTORY_1:.+]] = fuseops.update_scale %[[ARG5]], %[[ARG6]], %[[V23]] format(f8E4M3FN) most_recent {margin = 1 : i64} : tensor<2xf32>, tensor<4x2xf32>
// CHECK-NEXT:   fuseops.return %[[V21]], %[[NEXT_SCALE]], %[[NEXT_HISTORY]], %[[NEXT_SCALE_0]], %[[NEXT_HISTORY_1]] save(%[[ARG2]], %[[ARG7]], %[[ARG8]], %[[V7]]) : tensor<?x32xbf16>, tensor<2xf32>, tensor<4x2xf32>, tensor<2xf32>, tensor<4x2xf32>, tensor<32x64xbf16>, tensor<1xf32>, tensor<4x1xf32>, tensor<f32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x32xbf16>, saved %[[ARG1:.+]]: tensor<32x64xbf16>, saved %[[ARG2:.+]]: tensor<1xf32>, saved %[[ARG3:.+]]: tensor<4x1xf32>, saved %[[ARG4:.+]]: tensor<f32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.amax %[[ARG0]] : tensor<?x32xbf16> -> tensor<f32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reshape %[[V0]] : tensor<f32> -> tensor<1xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.reshape %[[ARG2]] : tensor<1xf32> -> tensor<f32>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.quantize %[[ARG0]] scale(%[[V2]]) : (tensor<?x32xbf16>, tensor<f32>) -> !fuseops.quantized<?x32xf8E5M2, scale = per_tensor, copies = row>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.quantize %[[ARG1]] scale(%[[ARG4]]) : (tensor<32x64xbf16>, tensor<f32>) -> !fuseops.quantized<32x64xf8E4M3FN, scale = per_tensor, copies = col>
// CHECK-NEXT:   %[[V5:.+]] = fuseops.matmul %[[V3]], %[[V4]] {fuseops.name = "fc2"} : !fuseops.quantized<?x32xf8E5M2, scale = per_tensor, copies = row>, !fuseops.quantized<32x64xf8E4M3FN, scale = per_tensor, copies = col> -> tensor<?x64xbf16>
// CHECK-NEXT:   %[[V6:.+]] = fuseops.slice %[[V5]] dim(1) offset(0) : tensor<?x64xbf16> -> tensor<?x32xbf16>
// CHECK-NEXT:   %[[NEXT_SCALE:.+]], %[[NEXT_HISTORY:.+]] = fuseops.update_scale %[[ARG2]], %[[ARG3]], %[[V1]] format(f8E5M2) most_recent {margin = 1 : i64} : tensor<1xf32>, tensor<4x1xf32>
// CHECK-NEXT:   fuseops.return %[[V6]], none, none, none, none, none, none, %[[NEXT_SCALE]], %[[NEXT_HISTORY]] : tensor<?x32xbf16>, tensor<1xf32>, tensor<4x1xf32>
// CHECK-NEXT: }
fuseops.fusible @delayed(%x: tensor<?x32xbf16>, %w: tensor<64x32xbf16>, %v: tensor<32x64xbf16>) -> tensor<?x32xbf16> attributes {fuseops.recipe = #fuseops.recipe<delayed, history = 4, margin = 1, amax_algorithm = most_recent>}
forward {
  %y = fuseops.linear %x, %w {fuseops.name = "fc1"} : (tensor<?x32xbf16>, tensor<64x32xbf16>) -> tensor<?x64xbf16>
  %z = fuseops.linear %y, %v {fuseops.name = "fc2"} : (tensor<?x64xbf16>, tensor<32x64xbf16>) -> tensor<?x32xbf16>
  fuseops.return %z save(%v) : tensor<?x32xbf16>, tensor<32x64xbf16>
}
backward (%dz: tensor<?x32xbf16>, saved %v: tensor<32x64xbf16>) {
  %dy = fuseops.matmul %dz, %v {fuseops.name = "fc2"} : tensor<?x32xbf16>, tensor<32x64xbf16> -> tensor<?x64xbf16>
  %dx = fuseops.slice %dy dim(1) offset(0) : tensor<?x64xbf16> -> tensor<?x32xbf16>
  fuseops.return %dx, none, none : tensor<?x32xbf16>
}

// Weight gradients stay in high precision; scales are of rows.
// CHECK-LABEL: fuseops.fusible @rowwise(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x32xbf16>, %[[ARG1:.+]]: tensor<64x32xbf16> {fuseops.weight}) -> tensor<?x64xbf16> attributes {fuseops.recipe = #fuseops.recipe<rowwise, high_precision_wgrad = true>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.quantize %[[ARG0]] : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.quantize %[[ARG1]] : (tensor<64x32xbf16>) -> !fuseops.quantized<64x32xf8E4M3FN, scale = per_row, copies = row>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.linear %[[V0]], %[[V1]] {fast_accumulate} : (!fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<64x32xf8E4M3FN, scale = per_row, copies = row>) -> tensor<?x64xbf16>
// CHECK-NEXT:   fuseops.return %[[V2]] save(%[[ARG0]], %[[ARG1]]) : tensor<?x64xbf16>, tensor<?x32xbf16>, tensor<64x32xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x64xbf16>, saved %[[ARG1:.+]]: tensor<?x32xbf16>, saved %[[ARG2:.+]]: tensor<64x32xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.quantize %[[ARG0]] : (tensor<?x64xbf16>) -> !fuseops.quantized<?x64xf8E4M3FN, scale = per_row, copies = row>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.quantize %[[ARG2]] : (tensor<64x32xbf16>) -> !fuseops.quantized<64x32xf8E4M3FN, scale = per_row, copies = col>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.matmul %[[V0]], %[[V1]] : !fuseops.quantized<?x64xf8E4M3FN, scale = per_row, copies = row>, !fuseops.quantized<64x32xf8E4M3FN, scale = per_row, copies = col> -> tensor<?x32xbf16>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.matmul %[[ARG0]], %[[ARG1]] transpose_lhs : tensor<?x64xbf16>, tensor<?x32xbf16> -> tensor<64x32xbf16>
// CHECK-NEXT:   fuseops.return %[[V2]], %[[V3]] : tensor<?x32xbf16>, tensor<64x32xbf16>
// CHECK-NEXT: }
fuseops.fusible @rowwise(%x: tensor<?x32xbf16>, %w: tensor<64x32xbf16>) -> tensor<?x64xbf16> attributes {fuseops.recipe = #fuseops.recipe<rowwise, high_precision_wgrad = true>}
forward {
  %y = fuseops.linear %x, %w : (tensor<?x32xbf16>, tensor<64x32xbf16>) -> tensor<?x64xbf16>
  fuseops.return %y save(%x, %w) : tensor<?x64xbf16>, tensor<?x32xbf16>, tensor<64x32xbf16>
}
backward (%dy: tensor<?x64xbf16>, saved %x: tensor<?x32xbf16>, saved %w: tensor<64x32xbf16>) {
  %dx = fuseops.matmul %dy, %w : tensor<?x64xbf16>, tensor<64x32xbf16> -> tensor<?x32xbf16>
  %dw = fuseops.matmul %dy, %x transpose_lhs : tensor<?x64xbf16>, tensor<?x32xbf16> -> tensor<64x32xbf16>
  fuseops.return %dx, %dw : tensor<?x32xbf16>, tensor<64x32xbf16>
}

// An operand of higher rank is the matrix of its rows; an epsilon and scales that
// are no powers of two.
// CHECK-LABEL: fuseops.fusible @rank_3(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x32xbf16>, %[[ARG1:.+]]: tensor<64x32xbf16> {fuseops.weight}, %[[ARG2:.+]]: tensor<64xbf16>) -> tensor<2x4x64xbf16> attributes {fuseops.recipe = #fuseops.recipe<block, power_of_two = false, epsilon = 9.99999974E-5>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<2x4x32xbf16> -> tensor<8x32xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.quantize %[[V0]] {epsilon = 9.99999974E-5 : f32} : (tensor<8x32xbf16>) -> !fuseops.quantized<8x32xf8E4M3FN, scale = block<1x128>, copies = row>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.quantize %[[ARG1]] {epsilon = 9.99999974E-5 : f32} : (tensor<64x32xbf16>) -> !fuseops.quantized<64x32xf8E4M3FN, scale = block<128x128>, copies = row>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.linear %[[V1]], %[[V2]] bias(%[[ARG2]]) : (!fuseops.quantized<8x32xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<64x32xf8E4M3FN, scale = block<128x128>, copies = row>, tensor<64xbf16>) -> tensor<8x64xbf16>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.reshape %[[V3]] : tensor<8x64xbf16> -> tensor<2x4x64xbf16>
// CHECK-NEXT:   fuseops.return %[[V4]] : tensor<2x4x64xbf16>
// CHECK-NEXT: }
fuseops.fusible @rank_3(%x: tensor<2x4x32xbf16>, %w: tensor<64x32xbf16>, %b: tensor<64xbf16>) -> tensor<2x4x64xbf16> attributes {fuseops.recipe = #fuseops.recipe<block, power_of_two = false, epsilon = 1.0e-4>}
forward {
  %y = fuseops.linear %x, %w bias(%b) : (tensor<2x4x32xbf16>, tensor<64x32xbf16>, tensor<64xbf16>) -> tensor<2x4x64xbf16>
  fuseops.return %y : tensor<2x4x64xbf16>
}

// The recipe of one contraction is its own. A weight that is converted or
// transposed is a weight; what is computed is none.
// CHECK-LABEL: fuseops.fusible @own_recipe(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x32xbf16>, %[[ARG1:.+]]: tensor<64x32xf32> {fuseops.weight}, %[[ARG2:.+]]: tensor<64x32xbf16> {fuseops.weight}) -> tensor<?x32xbf16> attributes {fuseops.recipe = #fuseops.recipe<block>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.cast %[[ARG1]] : tensor<64x32xf32> -> tensor<64x32xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.quantize %[[ARG0]] {power_of_two} : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = mx<1x32>, copies = row>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.quantize %[[V0]] {power_of_two} : (tensor<64x32xbf16>) -> !fuseops.quantized<64x32xf8E4M3FN, scale = mx<1x32>, copies = row>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.linear %[[V1]], %[[V2]] {fuseops.recipe = #fuseops.recipe<mx>} : (!fuseops.quantized<?x32xf8E4M3FN, scale = mx<1x32>, copies = row>, !fuseops.quantized<64x32xf8E4M3FN, scale = mx<1x32>, copies = row>) -> tensor<?x64xbf16>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.quantize %[[V3]] {power_of_two} : (tensor<?x64xbf16>) -> !fuseops.quantized<?x64xf8E4M3FN, scale = block<1x128>, copies = row>
// CHECK-NEXT:   %[[V5:.+]] = fuseops.quantize %[[ARG2]] {power_of_two} : (tensor<64x32xbf16>) -> !fuseops.quantized<64x32xf8E4M3FN, scale = block<128x128>, copies = col>
// CHECK-NEXT:   %[[V6:.+]] = fuseops.matmul %[[V4]], %[[V5]] : !fuseops.quantized<?x64xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<64x32xf8E4M3FN, scale = block<128x128>, copies = col> -> tensor<?x32xbf16>
// CHECK-NEXT:   %[[V7:.+]] = fuseops.silu %[[ARG2]] : tensor<64x32xbf16>
// CHECK-NEXT:   %[[V8:.+]] = fuseops.quantize %[[V3]] {power_of_two} : (tensor<?x64xbf16>) -> !fuseops.quantized<?x64xf8E4M3FN, scale = block<1x128>, copies = row>
// CHECK-NEXT:   %[[V9:.+]] = fuseops.quantize %[[V7]] {power_of_two} : (tensor<64x32xbf16>) -> !fuseops.quantized<64x32xf8E4M3FN, scale = block<1x128>, copies = col>
// CHECK-NEXT:   %[[V10:.+]] = fuseops.matmul %[[V8]], %[[V9]] : !fuseops.quantized<?x64xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<64x32xf8E4M3FN, scale = block<1x128>, copies = col> -> tensor<?x32xbf16>
// CHECK-NEXT:   %[[V11:.+]] = fuseops.add %[[V6]], %[[V10]] : tensor<?x32xbf16>, tensor<?x32xbf16> -> tensor<?x32xbf16>
// CHECK-NEXT:   fuseops.return %[[V11]] : tensor<?x32xbf16>
// CHECK-NEXT: }
fuseops.fusible @own_recipe(%x: tensor<?x32xbf16>, %w: tensor<64x32xf32>, %v: tensor<64x32xbf16>) -> tensor<?x32xbf16> attributes {fuseops.recipe = #fuseops.recipe<block>}
forward {
  %c = fuseops.cast %w : tensor<64x32xf32> -> tensor<64x32xbf16>
  %y = fuseops.linear %x, %c {fuseops.recipe = #fuseops.recipe<mx>} : (tensor<?x32xbf16>, tensor<64x32xbf16>) -> tensor<?x64xbf16>
  %p = fuseops.matmul %y, %v : tensor<?x64xbf16>, tensor<64x32xbf16> -> tensor<?x32xbf16>
  %s = fuseops.silu %v : tensor<64x32xbf16>
  %q = fuseops.matmul %y, %s : tensor<?x64xbf16>, tensor<64x32xbf16> -> tensor<?x32xbf16>
  %r = fuseops.add %p, %q : tensor<?x32xbf16>, tensor<?x32xbf16> -> tensor<?x32xbf16>
  fuseops.return %r : tensor<?x32xbf16>
}
