// What is one kernel forward and one kernel backward.
// RUN: fuse-opt %s --pass-pipeline='builtin.module(fuseops-differentiate,fuseops.fusible(fuseops-plan-saved,fuseops-forward-fusion,fuseops-backward-fusion),convert-fuseops-to-kernels{target=cpu})' -o %t
// RUN: fuse-opt %s --pass-pipeline='builtin.module(fuseops-differentiate,fuseops.fusible(fuseops-plan-saved,fuseops-forward-fusion,fuseops-backward-fusion))' | FileCheck %s

// CHECK-LABEL: fuseops.fusible @swiglu(
// CHECK: fuseops.group @forward_0 pointwise (
// CHECK-NOT: fuseops.group
// CHECK: backward (
// CHECK: fuseops.group @backward_0 pointwise (
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @swiglu(%x: tensor<?x16xbf16>) -> tensor<?x8xbf16>
forward {
  %y = fuseops.swiglu %x activation(first) : tensor<?x16xbf16> -> tensor<?x8xbf16>
  fuseops.return %y : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @clamped_swiglu_interleaved(
// CHECK: fuseops.group @forward_0 pointwise (
// CHECK-NOT: fuseops.group
// CHECK: backward (
// CHECK: fuseops.group @backward_0 pointwise (
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @clamped_swiglu_interleaved(%x: tensor<?x16xbf16>) -> tensor<?x8xbf16>
forward {
  %y = fuseops.clamped_swiglu %x limit(7.0) alpha(1.702) offset(1.0) activation(first) interleave(4) : tensor<?x16xbf16> -> tensor<?x8xbf16>
  fuseops.return %y : tensor<?x8xbf16>
}

// The scale's gradient too.
// CHECK-LABEL: fuseops.fusible @scaled_swiglu(
// CHECK: fuseops.group @forward_0 pointwise (
// CHECK-NOT: fuseops.group
// CHECK: backward (
// CHECK: fuseops.group @backward_0 row (
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @scaled_swiglu(%x: tensor<?x16xbf16>, %s: tensor<?x1xf32>) -> tensor<?x8xbf16>
forward {
  %y = fuseops.swiglu %x scale(%s) activation(first) : tensor<?x16xbf16>, tensor<?x1xf32> -> tensor<?x8xbf16>
  fuseops.return %y : tensor<?x8xbf16>
}

// As PyTorch's chunk.
// CHECK-LABEL: fuseops.fusible @glu_in_slices(
// CHECK: fuseops.group @forward_0 pointwise (
// CHECK-NOT: fuseops.group
// CHECK: backward (
// CHECK: fuseops.group @backward_0 pointwise (
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @glu_in_slices(%x: tensor<?x16xbf16>) -> tensor<?x8xbf16>
forward {
  %a = fuseops.slice %x dim(1) offset(0) : tensor<?x16xbf16> -> tensor<?x8xbf16>
  %b = fuseops.slice %x dim(1) offset(8) : tensor<?x16xbf16> -> tensor<?x8xbf16>
  %s = fuseops.silu %a : tensor<?x8xbf16>
  %y = fuseops.mul %s, %b : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  fuseops.return %y : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @glu_then_dropout(
// CHECK: fuseops.group @forward_0 pointwise (
// CHECK-NOT: fuseops.group
// CHECK: backward (
// CHECK: fuseops.group @backward_0 pointwise (
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @glu_then_dropout(%x: tensor<?x16xbf16>, %r: tensor<2xi64> {fuseops.random_state}) -> tensor<?x8xbf16>
forward {
  %g = fuseops.geglu %x activation(first) : tensor<?x16xbf16> -> tensor<?x8xbf16>
  %y = fuseops.dropout %g, %r p(0.1) : tensor<?x8xbf16>, tensor<2xi64>
  fuseops.return %y : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @silu_and_mul(
// CHECK: fuseops.group @forward_0 pointwise (
// CHECK-NOT: fuseops.group
// CHECK: backward (
// CHECK: fuseops.group @backward_0 pointwise (
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @silu_and_mul(%x: tensor<?x8xbf16>, %g: tensor<?x8xbf16>) -> tensor<?x8xbf16>
forward {
  %s = fuseops.silu %x : tensor<?x8xbf16>
  %y = fuseops.mul %s, %g : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  fuseops.return %y : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @gelu_and_mul(
// CHECK: fuseops.group @forward_0 pointwise (
// CHECK-NOT: fuseops.group
// CHECK: backward (
// CHECK: fuseops.group @backward_0 pointwise (
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @gelu_and_mul(%x: tensor<?x8xbf16>, %g: tensor<?x8xbf16>) -> tensor<?x8xbf16>
forward {
  %s = fuseops.gelu %x approximate(none) : tensor<?x8xbf16>
  %y = fuseops.mul %s, %g : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  fuseops.return %y : tensor<?x8xbf16>
}

// The sum is a result, and its gradient comes in.
// CHECK-LABEL: fuseops.fusible @skip_rms_norm(
// CHECK: fuseops.group @forward_0 row (
// CHECK-NOT: fuseops.group
// CHECK: backward (
// CHECK: fuseops.group @backward_0 row_column (
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @skip_rms_norm(%x: tensor<?x8xbf16>, %r: tensor<?x8xbf16>, %g: tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x8xbf16>)
forward {
  %z = fuseops.add %x, %r : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  %y, %s = fuseops.rms_norm %z gamma(%g) eps(1.0e-6) : (tensor<?x8xbf16>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x1xf32>)
  fuseops.return %y, %z : tensor<?x8xbf16>, tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @skip_layer_norm(
// CHECK: fuseops.group @forward_0 row (
// CHECK-NOT: fuseops.group
// CHECK: backward (
// CHECK: fuseops.group @backward_0 row_column (
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @skip_layer_norm(%x: tensor<?x8xbf16>, %r: tensor<?x8xbf16>, %g: tensor<8xbf16>, %b: tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x8xbf16>)
forward {
  %z = fuseops.add %x, %r : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  %y, %m, %s = fuseops.layer_norm %z gamma(%g) beta(%b) eps(1.0e-6) : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
  fuseops.return %y, %z : tensor<?x8xbf16>, tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @l2_norm(
// CHECK: fuseops.group @forward_0 row (
// CHECK-NOT: fuseops.group
// CHECK: backward (
// CHECK: fuseops.group @backward_0 row (
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @l2_norm(%x: tensor<?x8xbf16>) -> tensor<?x8xbf16>
forward {
  %y, %r = fuseops.l2_norm %x eps(1.0e-6) : tensor<?x8xbf16> -> (tensor<?x8xbf16>, tensor<?x1xf32>)
  fuseops.return %y : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @scaled_softmax(
// CHECK: fuseops.group @forward_0 row (
// CHECK-NOT: fuseops.group
// CHECK: backward (
// CHECK: fuseops.group @backward_0 row (
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @scaled_softmax(%x: tensor<?x8xbf16>) -> tensor<?x8xbf16>
forward {
  %s = fuseops.scale %x by(0.125) : tensor<?x8xbf16>
  %y = fuseops.softmax %s : tensor<?x8xbf16> -> tensor<?x8xbf16>
  fuseops.return %y : tensor<?x8xbf16>
}

// With its sum over rows.
// CHECK-LABEL: fuseops.fusible @cross_entropy(
// CHECK: fuseops.group @forward_0 row_column (
// CHECK-NOT: fuseops.group
// CHECK: backward (
// CHECK: fuseops.group @backward_0 pointwise (
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @cross_entropy(%x: tensor<?x8xbf16>, %t: tensor<?x1xi64>) -> tensor<1xf32>
forward {
  %l, %s = fuseops.cross_entropy %x, %t ignore_index(-100) label_smoothing(0.1) : tensor<?x8xbf16>, tensor<?x1xi64> -> (tensor<?x1xf32>, tensor<?x1xf32>)
  %y = fuseops.reduce_rows sum %l : tensor<?x1xf32> -> tensor<1xf32>
  fuseops.return %y : tensor<1xf32>
}

// CHECK-LABEL: fuseops.fusible @rotary_embedding(
// CHECK: fuseops.group @forward_0 pointwise (
// CHECK-NOT: fuseops.group
// CHECK: backward (
// CHECK: fuseops.group @backward_0 pointwise (
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @rotary_embedding(%x: tensor<?x4x2x8xbf16>, %c: tensor<4x1x4xf32> {fuseops.frozen}, %s: tensor<4x1x4xf32> {fuseops.frozen}) -> tensor<?x4x2x8xbf16>
forward {
  %y = fuseops.rotary_embedding %x, %c, %s pairs(half) : tensor<?x4x2x8xbf16>, tensor<4x1x4xf32>, tensor<4x1x4xf32>
  fuseops.return %y : tensor<?x4x2x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @rotary_embedding_interleaved(
// CHECK: fuseops.group @forward_0 pointwise (
// CHECK-NOT: fuseops.group
// CHECK: backward (
// CHECK: fuseops.group @backward_0 pointwise (
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @rotary_embedding_interleaved(%x: tensor<?x4x2x8xbf16>, %c: tensor<4x1x4xf32> {fuseops.frozen}, %s: tensor<4x1x4xf32> {fuseops.frozen}) -> tensor<?x4x2x8xbf16>
forward {
  %y = fuseops.rotary_embedding %x, %c, %s pairs(interleaved) : tensor<?x4x2x8xbf16>, tensor<4x1x4xf32>, tensor<4x1x4xf32>
  fuseops.return %y : tensor<?x4x2x8xbf16>
}
