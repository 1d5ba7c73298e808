// RUN: fuse-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: fuseops.fusible @reshape_to_same_type(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return %[[ARG0]] : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @reshape_to_same_type(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  %y = fuseops.reshape %x : tensor<?x8xf32> -> tensor<?x8xf32>
  fuseops.return %y : tensor<?x8xf32>
}

// CHECK-LABEL: fuseops.fusible @reshape_of_reshape(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x2x4xf32>) -> tensor<?x4x2xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<?x2x4xf32> -> tensor<?x4x2xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x4x2xf32>
// CHECK-NEXT: }
fuseops.fusible @reshape_of_reshape(%x: tensor<?x2x4xf32>) -> tensor<?x4x2xf32>
forward {
  %y = fuseops.reshape %x : tensor<?x2x4xf32> -> tensor<?x8xf32>
  %z = fuseops.reshape %y : tensor<?x8xf32> -> tensor<?x4x2xf32>
  fuseops.return %z : tensor<?x4x2xf32>
}

// CHECK-LABEL: fuseops.fusible @reshape_there_and_back(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return %[[ARG0]] : tensor<?x2x4xf32>
// CHECK-NEXT: }
fuseops.fusible @reshape_there_and_back(%x: tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
forward {
  %y = fuseops.reshape %x : tensor<?x2x4xf32> -> tensor<?x8xf32>
  %z = fuseops.reshape %y : tensor<?x8xf32> -> tensor<?x2x4xf32>
  fuseops.return %z : tensor<?x2x4xf32>
}

// CHECK-LABEL: fuseops.fusible @unpack_of_pack(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf8E5M2>, %[[ARG1:.+]]: tensor<f32>) -> (tensor<4x8xf8E5M2>, tensor<f32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return %[[ARG0]], %[[ARG1]] : tensor<4x8xf8E5M2>, tensor<f32>
// CHECK-NEXT: }
fuseops.fusible @unpack_of_pack(%d: tensor<4x8xf8E5M2>, %s: tensor<f32>) -> (tensor<4x8xf8E5M2>, tensor<f32>)
forward {
  %q = fuseops.pack_quantized %d, %s : (tensor<4x8xf8E5M2>, tensor<f32>) -> !fuseops.quantized<4x8xf8E5M2, scale = per_tensor, copies = row>
  %p:2 = fuseops.unpack_quantized %q : (!fuseops.quantized<4x8xf8E5M2, scale = per_tensor, copies = row>) -> (tensor<4x8xf8E5M2>, tensor<f32>)
  fuseops.return %p#0, %p#1 : tensor<4x8xf8E5M2>, tensor<f32>
}

// A rounding that the program asks for stays.
// CHECK-LABEL: fuseops.fusible @cast_there_and_back(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.cast %[[ARG0]] : tensor<4x8xf32> -> tensor<4x8xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.cast %[[V0]] : tensor<4x8xbf16> -> tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @cast_there_and_back(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y = fuseops.cast %x : tensor<4x8xf32> -> tensor<4x8xbf16>
  %z = fuseops.cast %y : tensor<4x8xbf16> -> tensor<4x8xf32>
  fuseops.return %z : tensor<4x8xf32>
}
