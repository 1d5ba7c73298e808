// Operations without a rule of their own are differentiated through what they
// are made of.
// RUN: fuse-opt %s --fuseops-differentiate | FileCheck %s

// CHECK-LABEL: fuseops.fusible @scaled_srelu(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<?x1xf32>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.srelu %[[ARG0]] scale(%[[ARG1]]) : tensor<?x8xbf16>, tensor<?x1xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]], %[[ARG1]]) : tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x1xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>, saved %[[ARG1:.+]]: tensor<?x8xbf16>, saved %[[ARG2:.+]]: tensor<?x1xf32>) {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG1]], %[[ARG4:.+]] = %[[ARG2]], %[[ARG5:.+]] = %[[ARG0]]) : (tensor<?x8xbf16>, tensor<?x1xf32>, tensor<?x8xbf16>) -> (tensor<?x8xbf16>, tensor<?x8xf32>) {
// CHECK: fuseops.yield %{{.+}}, %{{.+}} : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reduce_columns sum %[[V0]]#1 : tensor<?x8xf32> -> tensor<?x1xf32>
// CHECK-NEXT:   fuseops.return %[[V0]]#0, %[[V1]] : tensor<?x8xbf16>, tensor<?x1xf32>
// CHECK-NEXT: }
fuseops.fusible @scaled_srelu(%x: tensor<?x8xbf16>, %s: tensor<?x1xf32>) -> tensor<?x8xbf16>
forward {
  %y = fuseops.srelu %x scale(%s) : tensor<?x8xbf16>, tensor<?x1xf32>
  fuseops.return %y : tensor<?x8xbf16>
}

// Statistics of a norm: the mean is read, what has no result is computed again.
// CHECK-LABEL: fuseops.fusible @layer_norm_statistics(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>) -> (tensor<?x1xf32>, tensor<?x1xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[RESULT:.+]], %[[MEAN:.+]], %[[RSTD:.+]] = fuseops.layer_norm %[[ARG0]] eps(1.000000e-05) : (tensor<?x8xbf16>) -> (tensor<?x8xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
// CHECK-NEXT:   fuseops.return %[[MEAN]], %[[RSTD]] save(%[[ARG0]], %[[MEAN]]) : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x8xbf16>, tensor<?x1xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x1xf32>, %[[ARG1:.+]]: tensor<?x1xf32>, saved %[[ARG2:.+]]: tensor<?x8xbf16>, saved %[[ARG3:.+]]: tensor<?x1xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG4:.+]] = %[[ARG2]], %[[ARG5:.+]] = %[[ARG3]]) {fuseops.recomputed} : (tensor<?x8xbf16>, tensor<?x1xf32>) -> tensor<?x8xf32> {
// CHECK: fuseops.yield %{{.+}} : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reduce_columns sum %[[V0]] {fuseops.recomputed} : tensor<?x8xf32> -> tensor<?x1xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.pointwise (%[[ARG4]] = %[[V1]], %[[ARG5]] = %[[ARG1]]) : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32> {
// CHECK: fuseops.yield %{{.+}} : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V3:.+]] = fuseops.pointwise (%[[ARG4]] = %[[V2]]) : (tensor<?x1xf32>) -> tensor<?x8xf32> {
// CHECK: fuseops.yield %{{.+}} : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V4:.+]]:2 = fuseops.pointwise (%[[ARG4]] = %[[ARG2]], %[[ARG5]] = %[[ARG3]], %[[ARG6:.+]] = %[[V3]]) : (tensor<?x8xbf16>, tensor<?x1xf32>, tensor<?x8xf32>) -> (tensor<?x8xbf16>, tensor<?x8xf32>) {
// CHECK: fuseops.yield %{{.+}}, %{{.+}} : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V5:.+]] = fuseops.reduce_columns sum %[[V4]]#1 : tensor<?x8xf32> -> tensor<?x1xf32>
// CHECK-NEXT:   %[[V6:.+]] = fuseops.add %[[ARG0]], %[[V5]] : tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x1xf32>
// CHECK-NEXT:   %[[V7:.+]] = fuseops.pointwise (%[[ARG4]] = %[[V6]]) : (tensor<?x1xf32>) -> tensor<?x1xf32> {
// CHECK: fuseops.yield %{{.+}} : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V8:.+]] = fuseops.pointwise (%[[ARG4]] = %[[V7]]) : (tensor<?x1xf32>) -> tensor<?x8xf32> {
// CHECK: fuseops.yield %{{.+}} : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V9:.+]] = fuseops.pointwise (%[[ARG4]] = %[[V8]]) : (tensor<?x8xf32>) -> tensor<?x8xbf16> {
// CHECK: fuseops.yield %{{.+}} : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V10:.+]] = fuseops.add %[[V4]]#0, %[[V9]] : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V10]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @layer_norm_statistics(%x: tensor<?x8xbf16>) -> (tensor<?x1xf32>, tensor<?x1xf32>)
forward {
  %y, %m, %r = fuseops.layer_norm %x eps(1.0e-5) : (tensor<?x8xbf16>) -> (tensor<?x8xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
  fuseops.return %m, %r : tensor<?x1xf32>, tensor<?x1xf32>
}

// The input's gradient is the conjugate rotation; the angles' need the input.
// CHECK-LABEL: fuseops.fusible @rotary_embedding(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<4xf32>, %[[ARG2:.+]]: tensor<4xf32>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.rotary_embedding %[[ARG0]], %[[ARG1]], %[[ARG2]] pairs(half) : tensor<?x8xbf16>, tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG1]], %[[ARG2]], %[[ARG0]]) : tensor<?x8xbf16>, tensor<4xf32>, tensor<4xf32>, tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>, saved %[[ARG1:.+]]: tensor<4xf32>, saved %[[ARG2:.+]]: tensor<4xf32>, saved %[[ARG3:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.rotary_embedding %[[ARG0]], %[[ARG1]], %[[ARG2]] pairs(half) conjugate : tensor<?x8xbf16>, tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.slice %[[ARG3]] dim(1) offset(0) {fuseops.recomputed} : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.slice %[[ARG3]] dim(1) offset(4) {fuseops.recomputed} : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(0) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(4) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V5:.+]]:2 = fuseops.pointwise (%[[ARG4:.+]] = %[[V1]], %[[ARG5:.+]] = %[[V2]], %[[ARG6:.+]] = %[[V3]], %[[ARG7:.+]] = %[[V4]]) : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
// CHECK: fuseops.yield %{{.+}}, %{{.+}} : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V6:.+]] = fuseops.reduce_rows sum %[[V5]]#0 : tensor<?x4xf32> -> tensor<4xf32>
// CHECK-NEXT:   %[[V7:.+]] = fuseops.reduce_rows sum %[[V5]]#1 : tensor<?x4xf32> -> tensor<4xf32>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V6]], %[[V7]] : tensor<?x8xbf16>, tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: }
fuseops.fusible @rotary_embedding(%x: tensor<?x8xbf16>, %c: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<?x8xbf16>
forward {
  %y = fuseops.rotary_embedding %x, %c, %s pairs(half) : tensor<?x8xbf16>, tensor<4xf32>, tensor<4xf32>
  fuseops.return %y : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @rotary_embedding_frozen_angles(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<4xf32> {fuseops.frozen}, %[[ARG2:.+]]: tensor<4xf32> {fuseops.frozen}) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.rotary_embedding %[[ARG0]], %[[ARG1]], %[[ARG2]] pairs(interleaved) conjugate : tensor<?x8xbf16>, tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG1]], %[[ARG2]]) : tensor<?x8xbf16>, tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>, saved %[[ARG1:.+]]: tensor<4xf32>, saved %[[ARG2:.+]]: tensor<4xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.rotary_embedding %[[ARG0]], %[[ARG1]], %[[ARG2]] pairs(interleaved) : tensor<?x8xbf16>, tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:   fuseops.return %[[V0]], none, none : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @rotary_embedding_frozen_angles(%x: tensor<?x8xbf16>, %c: tensor<4xf32> {fuseops.frozen}, %s: tensor<4xf32> {fuseops.frozen}) -> tensor<?x8xbf16>
forward {
  %y = fuseops.rotary_embedding %x, %c, %s pairs(interleaved) conjugate : tensor<?x8xbf16>, tensor<4xf32>, tensor<4xf32>
  fuseops.return %y : tensor<?x8xbf16>
}
