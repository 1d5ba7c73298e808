// The gradient rules of the named pointwise operations, broadcasts included.
// RUN: fuse-opt %s --fuseops-differentiate | FileCheck %s

// CHECK-LABEL: fuseops.fusible @gelu(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.gelu %[[ARG0]] approximate(tanh) : tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<?x8xbf16>, tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>, saved %[[ARG1:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.gelu_grad %[[ARG0]], %[[ARG1]] approximate(tanh) : tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @gelu(%x: tensor<?x8xbf16>) -> tensor<?x8xbf16>
forward {
  %y = fuseops.gelu %x approximate(tanh) : tensor<?x8xbf16>
  fuseops.return %y : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @silu(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu %[[ARG0]] : tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<?x8xbf16>, tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>, saved %[[ARG1:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu_grad %[[ARG0]], %[[ARG1]] : tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @silu(%x: tensor<?x8xbf16>) -> tensor<?x8xbf16>
forward {
  %y = fuseops.silu %x : tensor<?x8xbf16>
  fuseops.return %y : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @relu(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.relu %[[ARG0]] : tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<?x8xbf16>, tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>, saved %[[ARG1:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.relu_grad %[[ARG0]], %[[ARG1]] : tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @relu(%x: tensor<?x8xbf16>) -> tensor<?x8xbf16>
forward {
  %y = fuseops.relu %x : tensor<?x8xbf16>
  fuseops.return %y : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @scale(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.scale %[[ARG0]] by(5.000000e-01) : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.scale %[[ARG0]] by(5.000000e-01) : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @scale(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y = fuseops.scale %x by(0.5) : tensor<4x8xf32>
  fuseops.return %y : tensor<4x8xf32>
}

// The same counters are hashed again: the state is saved, the mask is not.
// CHECK-LABEL: fuseops.fusible @dropout(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>, %[[ARG1:.+]]: tensor<2xi64> {fuseops.random_state}) -> tensor<?x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.dropout %[[ARG0]], %[[ARG1]] p(1.000000e-01) : tensor<?x8xf32>, tensor<2xi64>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG1]]) : tensor<?x8xf32>, tensor<2xi64>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xf32>, saved %[[ARG1:.+]]: tensor<2xi64>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.dropout %[[ARG0]], %[[ARG1]] p(1.000000e-01) : tensor<?x8xf32>, tensor<2xi64>
// CHECK-NEXT:   fuseops.return %[[V0]], none : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @dropout(%x: tensor<?x8xf32>, %s: tensor<2xi64> {fuseops.random_state}) -> tensor<?x8xf32>
forward {
  %y = fuseops.dropout %x, %s p(0.1) : tensor<?x8xf32>, tensor<2xi64>
  fuseops.return %y : tensor<?x8xf32>
}

// CHECK-LABEL: fuseops.fusible @cast(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.cast %[[ARG0]] : tensor<?x8xf32> -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.cast %[[ARG0]] : tensor<?x8xbf16> -> tensor<?x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @cast(%x: tensor<?x8xf32>) -> tensor<?x8xbf16>
forward {
  %y = fuseops.cast %x : tensor<?x8xf32> -> tensor<?x8xbf16>
  fuseops.return %y : tensor<?x8xbf16>
}

// The gradient of the input is the incoming one itself.
// CHECK-LABEL: fuseops.fusible @bias(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.bias %[[ARG0]], %[[ARG1]] : tensor<?x8xbf16>, tensor<8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reduce_rows sum %[[ARG0]] : tensor<?x8xbf16> -> tensor<8xbf16>
// CHECK-NEXT:   fuseops.return %[[ARG0]], %[[V0]] : tensor<?x8xbf16>, tensor<8xbf16>
// CHECK-NEXT: }
fuseops.fusible @bias(%x: tensor<?x8xbf16>, %b: tensor<8xbf16>) -> tensor<?x8xbf16>
forward {
  %y = fuseops.bias %x, %b : tensor<?x8xbf16>, tensor<8xbf16>
  fuseops.return %y : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @mul(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<?x8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.mul %[[ARG0]], %[[ARG1]] : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG1]], %[[ARG0]]) : tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>, saved %[[ARG1:.+]]: tensor<?x8xbf16>, saved %[[ARG2:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.mul %[[ARG0]], %[[ARG1]] : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.mul %[[ARG0]], %[[ARG2]] : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V1]] : tensor<?x8xbf16>, tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @mul(%x: tensor<?x8xbf16>, %y: tensor<?x8xbf16>) -> tensor<?x8xbf16>
forward {
  %z = fuseops.mul %x, %y : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  fuseops.return %z : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @add_alias(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<?x8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.add %[[ARG0]], %[[ARG1]] : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   fuseops.return %[[ARG0]], %[[ARG0]] : tensor<?x8xbf16>, tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @add_alias(%x: tensor<?x8xbf16>, %y: tensor<?x8xbf16>) -> tensor<?x8xbf16>
forward {
  %z = fuseops.add %x, %y : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  fuseops.return %z : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @add_other_type(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<?x8xf32>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.add %[[ARG0]], %[[ARG1]] : tensor<?x8xbf16>, tensor<?x8xf32> -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<?x8xbf16>) -> tensor<?x8xf32> {
// CHECK-NEXT:     fuseops.yield %[[ARG1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[ARG0]], %[[V0]] : tensor<?x8xbf16>, tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @add_other_type(%x: tensor<?x8xbf16>, %y: tensor<?x8xf32>) -> tensor<?x8xbf16>
forward {
  %z = fuseops.add %x, %y : tensor<?x8xbf16>, tensor<?x8xf32> -> tensor<?x8xbf16>
  fuseops.return %z : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @add_row_vector(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.add %[[ARG0]], %[[ARG1]] : tensor<?x8xbf16>, tensor<8xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reduce_rows sum %[[ARG0]] : tensor<?x8xbf16> -> tensor<8xbf16>
// CHECK-NEXT:   fuseops.return %[[ARG0]], %[[V0]] : tensor<?x8xbf16>, tensor<8xbf16>
// CHECK-NEXT: }
fuseops.fusible @add_row_vector(%x: tensor<?x8xbf16>, %y: tensor<8xbf16>) -> tensor<?x8xbf16>
forward {
  %z = fuseops.add %x, %y : tensor<?x8xbf16>, tensor<8xbf16> -> tensor<?x8xbf16>
  fuseops.return %z : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @add_one_row(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<1x8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.add %[[ARG0]], %[[ARG1]] : tensor<?x8xbf16>, tensor<1x8xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reduce_rows sum %[[ARG0]] : tensor<?x8xbf16> -> tensor<8xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reshape %[[V0]] : tensor<8xbf16> -> tensor<1x8xbf16>
// CHECK-NEXT:   fuseops.return %[[ARG0]], %[[V1]] : tensor<?x8xbf16>, tensor<1x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @add_one_row(%x: tensor<?x8xbf16>, %y: tensor<1x8xbf16>) -> tensor<?x8xbf16>
forward {
  %z = fuseops.add %x, %y : tensor<?x8xbf16>, tensor<1x8xbf16> -> tensor<?x8xbf16>
  fuseops.return %z : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @add_one_column(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<?x1xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.add %[[ARG0]], %[[ARG1]] : tensor<?x8xbf16>, tensor<?x1xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reduce_columns sum %[[ARG0]] : tensor<?x8xbf16> -> tensor<?x1xbf16>
// CHECK-NEXT:   fuseops.return %[[ARG0]], %[[V0]] : tensor<?x8xbf16>, tensor<?x1xbf16>
// CHECK-NEXT: }
fuseops.fusible @add_one_column(%x: tensor<?x8xbf16>, %y: tensor<?x1xbf16>) -> tensor<?x8xbf16>
forward {
  %z = fuseops.add %x, %y : tensor<?x8xbf16>, tensor<?x1xbf16> -> tensor<?x8xbf16>
  fuseops.return %z : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @add_scalar(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<f32>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.add %[[ARG0]], %[[ARG1]] : tensor<?x8xbf16>, tensor<f32> -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reduce_columns sum %[[ARG0]] : tensor<?x8xbf16> -> tensor<?x1xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reduce_rows sum %[[V0]] : tensor<?x1xf32> -> tensor<1xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.reshape %[[V1]] : tensor<1xf32> -> tensor<f32>
// CHECK-NEXT:   fuseops.return %[[ARG0]], %[[V2]] : tensor<?x8xbf16>, tensor<f32>
// CHECK-NEXT: }
fuseops.fusible @add_scalar(%x: tensor<?x8xbf16>, %y: tensor<f32>) -> tensor<?x8xbf16>
forward {
  %z = fuseops.add %x, %y : tensor<?x8xbf16>, tensor<f32> -> tensor<?x8xbf16>
  fuseops.return %z : tensor<?x8xbf16>
}

// A product that is reduced afterwards is not rounded before.
// CHECK-LABEL: fuseops.fusible @mul_row_vector(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.mul %[[ARG0]], %[[ARG1]] : tensor<?x8xbf16>, tensor<8xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG1]], %[[ARG0]]) : tensor<?x8xbf16>, tensor<8xbf16>, tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>, saved %[[ARG1:.+]]: tensor<8xbf16>, saved %[[ARG2:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.mul %[[ARG0]], %[[ARG1]] : tensor<?x8xbf16>, tensor<8xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.mul %[[ARG0]], %[[ARG2]] : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.reduce_rows sum %[[V1]] : tensor<?x8xf32> -> tensor<8xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V2]] : tensor<?x8xbf16>, tensor<8xbf16>
// CHECK-NEXT: }
fuseops.fusible @mul_row_vector(%x: tensor<?x8xbf16>, %y: tensor<8xbf16>) -> tensor<?x8xbf16>
forward {
  %z = fuseops.mul %x, %y : tensor<?x8xbf16>, tensor<8xbf16> -> tensor<?x8xbf16>
  fuseops.return %z : tensor<?x8xbf16>
}
