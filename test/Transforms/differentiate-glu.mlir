// Gated linear units: slices, one pointwise operation and one concatenation.
// RUN: fuse-opt %s --fuseops-differentiate | FileCheck %s

// CHECK-LABEL: fuseops.fusible @swiglu(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>) -> tensor<?x4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.swiglu %[[ARG0]] activation(first) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<?x4xbf16>, tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x4xbf16>, saved %[[ARG1:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.slice %[[ARG1]] dim(1) offset(0) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.slice %[[ARG1]] dim(1) offset(4) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V2:.+]]:2 = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[V0]], %[[ARG4:.+]] = %[[V1]]) : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>) -> (tensor<?x4xbf16>, tensor<?x4xbf16>) {
// CHECK: fuseops.yield %{{.+}}, %{{.+}} : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V3:.+]] = fuseops.concat %[[V2]]#0, %[[V2]]#1 dim(1) : (tensor<?x4xbf16>, tensor<?x4xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V3]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @swiglu(%x: tensor<?x8xbf16>) -> tensor<?x4xbf16>
forward {
  %y = fuseops.swiglu %x activation(first) : tensor<?x8xbf16> -> tensor<?x4xbf16>
  fuseops.return %y : tensor<?x4xbf16>
}

// The activation is the second half: so is its gradient.
// CHECK-LABEL: fuseops.fusible @geglu_activation_last(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>) -> tensor<?x4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.geglu %[[ARG0]]  activation(last) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<?x4xbf16>, tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x4xbf16>, saved %[[ARG1:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.slice %[[ARG1]] dim(1) offset(0) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.slice %[[ARG1]] dim(1) offset(4) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V2:.+]]:2 = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[V1]], %[[ARG4:.+]] = %[[V0]]) : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>) -> (tensor<?x4xbf16>, tensor<?x4xbf16>) {
// CHECK: fuseops.yield %{{.+}}, %{{.+}} : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V3:.+]] = fuseops.concat %[[V2]]#1, %[[V2]]#0 dim(1) : (tensor<?x4xbf16>, tensor<?x4xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V3]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @geglu_activation_last(%x: tensor<?x8xbf16>) -> tensor<?x4xbf16>
forward {
  %y = fuseops.geglu %x activation(last) : tensor<?x8xbf16> -> tensor<?x4xbf16>
  fuseops.return %y : tensor<?x4xbf16>
}

// CHECK-LABEL: fuseops.fusible @interleaved(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>) -> tensor<?x4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reglu %[[ARG0]] activation(first) interleave(2) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<?x4xbf16>, tensor<?x8xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x4xbf16>, saved %[[ARG1:.+]]: tensor<?x8xbf16>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reshape %[[ARG1]] : tensor<?x8xbf16> -> tensor<?x2x4xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.slice %[[V0]] dim(2) offset(0) : tensor<?x2x4xbf16> -> tensor<?x2x2xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.slice %[[V0]] dim(2) offset(2) : tensor<?x2x4xbf16> -> tensor<?x2x2xbf16>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.reshape %[[ARG0]] : tensor<?x4xbf16> -> tensor<?x2x2xbf16>
// CHECK-NEXT:   %[[V4:.+]]:2 = fuseops.pointwise (%[[ARG2:.+]] = %[[V3]], %[[ARG3:.+]] = %[[V1]], %[[ARG4:.+]] = %[[V2]]) : (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>) -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>) {
// CHECK: fuseops.yield %{{.+}}, %{{.+}} : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V5:.+]] = fuseops.concat %[[V4]]#0, %[[V4]]#1 dim(2) : (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>) -> tensor<?x2x4xbf16>
// CHECK-NEXT:   %[[V6:.+]] = fuseops.reshape %[[V5]] : tensor<?x2x4xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V6]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @interleaved(%x: tensor<?x8xbf16>) -> tensor<?x4xbf16>
forward {
  %y = fuseops.reglu %x activation(first) interleave(2) : tensor<?x8xbf16> -> tensor<?x4xbf16>
  fuseops.return %y : tensor<?x4xbf16>
}

// The scale's gradient is a sum of products that are not rounded.
// CHECK-LABEL: fuseops.fusible @scaled(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<?x1xf32>) -> tensor<?x4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.glu %[[ARG0]] scale(%[[ARG1]]) activation(first) : tensor<?x8xbf16>, tensor<?x1xf32> -> tensor<?x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]], %[[ARG1]]) : tensor<?x4xbf16>, tensor<?x8xbf16>, tensor<?x1xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x4xbf16>, saved %[[ARG1:.+]]: tensor<?x8xbf16>, saved %[[ARG2:.+]]: tensor<?x1xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.slice %[[ARG1]] dim(1) offset(0) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.slice %[[ARG1]] dim(1) offset(4) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V2:.+]]:3 = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG0]], %[[ARG4:.+]] = %[[V0]], %[[ARG5:.+]] = %[[V1]], %[[ARG6:.+]] = %[[ARG2]]) : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<?x1xf32>) -> (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<?x4xf32>) {
// CHECK: fuseops.yield %{{.+}}, %{{.+}}, %{{.+}} : f32, f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V3:.+]] = fuseops.concat %[[V2]]#0, %[[V2]]#1 dim(1) : (tensor<?x4xbf16>, tensor<?x4xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.reduce_columns sum %[[V2]]#2 : tensor<?x4xf32> -> tensor<?x1xf32>
// CHECK-NEXT:   fuseops.return %[[V3]], %[[V4]] : tensor<?x8xbf16>, tensor<?x1xf32>
// CHECK-NEXT: }
fuseops.fusible @scaled(%x: tensor<?x8xbf16>, %s: tensor<?x1xf32>) -> tensor<?x4xbf16>
forward {
  %y = fuseops.glu %x scale(%s) activation(first) : tensor<?x8xbf16>, tensor<?x1xf32> -> tensor<?x4xbf16>
  fuseops.return %y : tensor<?x4xbf16>
}

// CHECK-LABEL: fuseops.fusible @frozen_scale(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<?x1xf32> {fuseops.frozen}) -> tensor<?x4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.glu %[[ARG0]] scale(%[[ARG1]]) activation(first) : tensor<?x8xbf16>, tensor<?x1xf32> -> tensor<?x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]], %[[ARG1]]) : tensor<?x4xbf16>, tensor<?x8xbf16>, tensor<?x1xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x4xbf16>, saved %[[ARG1:.+]]: tensor<?x8xbf16>, saved %[[ARG2:.+]]: tensor<?x1xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.slice %[[ARG1]] dim(1) offset(0) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.slice %[[ARG1]] dim(1) offset(4) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V2:.+]]:2 = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG0]], %[[ARG4:.+]] = %[[V0]], %[[ARG5:.+]] = %[[V1]], %[[ARG6:.+]] = %[[ARG2]]) : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<?x1xf32>) -> (tensor<?x4xbf16>, tensor<?x4xbf16>) {
// CHECK: fuseops.yield %{{.+}}, %{{.+}} : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V3:.+]] = fuseops.concat %[[V2]]#0, %[[V2]]#1 dim(1) : (tensor<?x4xbf16>, tensor<?x4xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V3]], none : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @frozen_scale(%x: tensor<?x8xbf16>, %s: tensor<?x1xf32> {fuseops.frozen}) -> tensor<?x4xbf16>
forward {
  %y = fuseops.glu %x scale(%s) activation(first) : tensor<?x8xbf16>, tensor<?x1xf32> -> tensor<?x4xbf16>
  fuseops.return %y : tensor<?x4xbf16>
}

// CHECK-LABEL: fuseops.fusible @frozen_input(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16> {fuseops.frozen}, %[[ARG1:.+]]: tensor<?x1xf32>) -> tensor<?x4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.glu %[[ARG0]] scale(%[[ARG1]]) activation(first) : tensor<?x8xbf16>, tensor<?x1xf32> -> tensor<?x4xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]], %[[ARG1]]) : tensor<?x4xbf16>, tensor<?x8xbf16>, tensor<?x1xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x4xbf16>, saved %[[ARG1:.+]]: tensor<?x8xbf16>, saved %[[ARG2:.+]]: tensor<?x1xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.slice %[[ARG1]] dim(1) offset(0) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.slice %[[ARG1]] dim(1) offset(4) : tensor<?x8xbf16> -> tensor<?x4xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG0]], %[[ARG4:.+]] = %[[V0]], %[[ARG5:.+]] = %[[V1]], %[[ARG6:.+]] = %[[ARG2]]) : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<?x1xf32>) -> tensor<?x4xf32> {
// CHECK: fuseops.yield %{{.+}} : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V3:.+]] = fuseops.reduce_columns sum %[[V2]] : tensor<?x4xf32> -> tensor<?x1xf32>
// CHECK-NEXT:   fuseops.return none, %[[V3]] : tensor<?x1xf32>
// CHECK-NEXT: }
fuseops.fusible @frozen_input(%x: tensor<?x8xbf16> {fuseops.frozen}, %s: tensor<?x1xf32>) -> tensor<?x4xbf16>
forward {
  %y = fuseops.glu %x scale(%s) activation(first) : tensor<?x8xbf16>, tensor<?x1xf32> -> tensor<?x4xbf16>
  fuseops.return %y : tensor<?x4xbf16>
}
