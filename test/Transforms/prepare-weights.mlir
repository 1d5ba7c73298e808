// RUN: fuse-opt %s --fuseops-quantize --fuseops-propagate-quantization --fuseops-prepare-weights | FileCheck %s

// Both copies of the weight come from one call for both regions; what converts it
// goes along, what else reads the weight stays.
// CHECK-LABEL: fuseops.fusible @block(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x32xbf16>, %[[ARG1:.+]]: tensor<64x32xf32> {fuseops.weight}, %[[ARG2:.+]]: !fuseops.quantized<64x32xf8E4M3FN, scale = block<128x128>, copies = row_col> {fuseops.frozen, fuseops.prepared = 0 : i64}) -> (tensor<?x64xbf16>, tensor<64x32xbf16>) attributes {frozen_results = array<i64: 1>, fuseops.prepare = @block_prepare, fuseops.recipe = #fuseops.recipe<block>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.cast %[[ARG1]] : tensor<64x32xf32> -> tensor<64x32xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.quantize %[[ARG0]] {power_of_two} : (tensor<?x32xbf16>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = row>
// CHECK-NEXT:   %[[V2:.+]]:4 = fuseops.unpack_quantized %[[ARG2]] : (!fuseops.quantized<64x32xf8E4M3FN, scale = block<128x128>, copies = row_col>) -> (tensor<64x32xf8E4M3FN>, tensor<1x4xf32>, tensor<32x64xf8E4M3FN>, tensor<1x4xf32>)
// CHECK-NEXT:   %[[V3:.+]] = fuseops.pack_quantized %[[V2]]#2, %[[V2]]#3 : (tensor<32x64xf8E4M3FN>, tensor<1x4xf32>) -> !fuseops.quantized<64x32xf8E4M3FN, scale = block<128x128>, copies = col>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.linear %[[V1]], %[[ARG2]] : (!fuseops.quantized<?x32xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<64x32xf8E4M3FN, scale = block<128x128>, copies = row_col>) -> tensor<?x64xbf16>
// CHECK-NEXT:   %[[V5:.+]] = fuseops.relu %[[V0]] : tensor<64x32xbf16>
// CHECK-NEXT:   fuseops.return %[[V4]], %[[V5]] save(%[[V3]]) : tensor<?x64xbf16>, tensor<64x32xbf16>, !fuseops.quantized<64x32xf8E4M3FN, scale = block<128x128>, copies = col>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x64xbf16>, saved %[[ARG1:.+]]: !fuseops.quantized<64x32xf8E4M3FN, scale = block<128x128>, copies = col>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.quantize %[[ARG0]] {power_of_two} : (tensor<?x64xbf16>) -> !fuseops.quantized<?x64xf8E4M3FN, scale = block<1x128>, copies = row>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.matmul %[[V0]], %[[ARG1]] : !fuseops.quantized<?x64xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<64x32xf8E4M3FN, scale = block<128x128>, copies = col> -> tensor<?x32xbf16>
// CHECK-NEXT:   fuseops.return %[[V1]], none, none : tensor<?x32xbf16>
// CHECK-NEXT: }
// CHECK-LABEL: fuseops.fusible @block_prepare(
// CHECK-SAME: %[[ARG0:.+]]: tensor<64x32xf32> {fuseops.frozen, fuseops.prepare = 0 : i64}) -> !fuseops.quantized<64x32xf8E4M3FN, scale = block<128x128>, copies = row_col> attributes {frozen_results = array<i64: 0>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.cast %[[ARG0]] : tensor<64x32xf32> -> tensor<64x32xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.quantize %[[V0]] {power_of_two} : (tensor<64x32xbf16>) -> !fuseops.quantized<64x32xf8E4M3FN, scale = block<128x128>, copies = row_col>
// CHECK-NEXT:   fuseops.return %[[V1]] : !fuseops.quantized<64x32xf8E4M3FN, scale = block<128x128>, copies = row_col>
// CHECK-NEXT: }
fuseops.fusible @block(%x: tensor<?x32xbf16>, %w: tensor<64x32xf32>) -> (tensor<?x64xbf16>, tensor<64x32xbf16>) attributes {fuseops.recipe = #fuseops.recipe<block>, frozen_results = array<i64: 1>}
forward {
  %c = fuseops.cast %w : tensor<64x32xf32> -> tensor<64x32xbf16>
  %y = fuseops.linear %x, %c : (tensor<?x32xbf16>, tensor<64x32xbf16>) -> tensor<?x64xbf16>
  %r = fuseops.relu %c : tensor<64x32xbf16>
  fuseops.return %y, %r save(%c) : tensor<?x64xbf16>, tensor<64x32xbf16>, tensor<64x32xbf16>
}
backward (%dy: tensor<?x64xbf16>, saved %c: tensor<64x32xbf16>) {
  %dx = fuseops.matmul %dy, %c : tensor<?x64xbf16>, tensor<64x32xbf16> -> tensor<?x32xbf16>
  fuseops.return %dx, none : tensor<?x32xbf16>
}

// The state of the weights' scales goes with them; forward's results have other
// numbers then.
// CHECK-LABEL: fuseops.fusible @delayed(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x32xbf16>, %[[ARG1:.+]]: tensor<64x32xbf16> {fuseops.weight}, %[[ARG2:.+]]: tensor<1xf32> {fuseops.frozen, fuseops.state = 1 : i64, fuseops.tensors = ["fc.input"]}, %[[ARG3:.+]]: tensor<4x1xf32> {fuseops.frozen, fuseops.state = 2 : i64}, %[[ARG4:.+]]: !fuseops.quantized<64x32xf8E4M3FN, scale = per_tensor, copies = row> {fuseops.frozen, fuseops.prepared = 0 : i64}) -> (tensor<?x64xbf16>, tensor<1xf32>, tensor<4x1xf32>) attributes {frozen_results = array<i64: 1, 2>, fuseops.prepare = @delayed_prepare, fuseops.recipe = #fuseops.recipe<delayed, history = 4>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.amax %[[ARG0]] : tensor<?x32xbf16> -> tensor<f32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reshape %[[V0]] : tensor<f32> -> tensor<1xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.reshape %[[ARG2]] : tensor<1xf32> -> tensor<f32>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.quantize %[[ARG0]] scale(%[[V2]]) : (tensor<?x32xbf16>, tensor<f32>) -> !fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = row>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.linear %[[V3]], %[[ARG4]] {fast_accumulate, fuseops.name = "fc"} : (!fuseops.quantized<?x32xf8E4M3FN, scale = per_tensor, copies = row>, !fuseops.quantized<64x32xf8E4M3FN, scale = per_tensor, copies = row>) -> tensor<?x64xbf16>
// CHECK-NEXT:   %[[NEXT_SCALE:.+]], %[[NEXT_HISTORY:.+]] = fuseops.update_scale %[[ARG2]], %[[ARG3]], %[[V1]] format(f8E4M3FN) : tensor<1xf32>, tensor<4x1xf32>
// CHECK-NEXT:   fuseops.return %[[V4]], %[[NEXT_SCALE]], %[[NEXT_HISTORY]] : tensor<?x64xbf16>, tensor<1xf32>, tensor<4x1xf32>
// CHECK-NEXT: }
// CHECK-LABEL: fuseops.fusible @delayed_prepare(
// CHECK-SAME: %[[ARG0:.+]]: tensor<64x32xbf16> {fuseops.frozen, fuseops.prepare = 0 : i64}, %[[ARG1:.+]]: tensor<1xf32> {fuseops.frozen, fuseops.state = 1 : i64, fuseops.tensors = ["fc.weight"]}, %[[ARG2:.+]]: tensor<4x1xf32> {fuseops.frozen, fuseops.state = 2 : i64}) -> (!fuseops.quantized<64x32xf8E4M3FN, scale = per_tensor, copies = row>, tensor<1xf32>, tensor<4x1xf32>) attributes {frozen_results = array<i64: 0, 1, 2>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.amax %[[ARG0]] : tensor<64x32xbf16> -> tensor<f32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reshape %[[V0]] : tensor<f32> -> tensor<1xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.reshape %[[ARG1]] : tensor<1xf32> -> tensor<f32>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.quantize %[[ARG0]] scale(%[[V2]]) : (tensor<64x32xbf16>, tensor<f32>) -> !fuseops.quantized<64x32xf8E4M3FN, scale = per_tensor, copies = row>
// CHECK-NEXT:   %[[NEXT_SCALE:.+]], %[[NEXT_HISTORY:.+]] = fuseops.update_scale %[[ARG1]], %[[ARG2]], %[[V1]] format(f8E4M3FN) : tensor<1xf32>, tensor<4x1xf32>
// CHECK-NEXT:   fuseops.return %[[V3]], %[[NEXT_SCALE]], %[[NEXT_HISTORY]] : !fuseops.quantized<64x32xf8E4M3FN, scale = per_tensor, copies = row>, tensor<1xf32>, tensor<4x1xf32>
// CHECK-NEXT: }
fuseops.fusible @delayed(%x: tensor<?x32xbf16>, %w: tensor<64x32xbf16>) -> tensor<?x64xbf16> attributes {fuseops.recipe = #fuseops.recipe<delayed, history = 4>}
forward {
  %y = fuseops.linear %x, %w {fuseops.name = "fc"} : (tensor<?x32xbf16>, tensor<64x32xbf16>) -> tensor<?x64xbf16>
  fuseops.return %y : tensor<?x64xbf16>
}

// Nothing to prepare.
// CHECK-LABEL: fuseops.fusible @none(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x32xbf16>, %[[ARG1:.+]]: tensor<64x32xbf16>) -> tensor<?x64xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.linear %[[ARG0]], %[[ARG1]] : (tensor<?x32xbf16>, tensor<64x32xbf16>) -> tensor<?x64xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x64xbf16>
// CHECK-NEXT: }
fuseops.fusible @none(%x: tensor<?x32xbf16>, %w: tensor<64x32xbf16>) -> tensor<?x64xbf16>
forward {
  %y = fuseops.linear %x, %w : (tensor<?x32xbf16>, tensor<64x32xbf16>) -> tensor<?x64xbf16>
  fuseops.return %y : tensor<?x64xbf16>
}
