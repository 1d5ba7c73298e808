// RUN: fuse-opt %s --fuseops-forward-fusion | FileCheck %s
// RUN: fuse-opt %s --fuseops-forward-fusion=fuse=false | FileCheck %s --check-prefix=SINGLE

// CHECK-LABEL: fuseops.fusible @pointwise_chain(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @forward_0 pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16> {
// CHECK-NEXT:     %[[V1:.+]] = fuseops.bias %[[ARG2]], %[[ARG3]] : tensor<?x8xbf16>, tensor<8xbf16>
// CHECK-NEXT:     %[[V2:.+]] = fuseops.gelu %[[V1]] approximate(tanh) : tensor<?x8xbf16>
// CHECK-NEXT:     fuseops.yield %[[V2]] : tensor<?x8xbf16>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
// SINGLE-LABEL: fuseops.fusible @pointwise_chain(
// SINGLE: %[[A:.+]] = fuseops.group @forward_0 pointwise
// SINGLE-NEXT: fuseops.bias
// SINGLE-NEXT: fuseops.yield
// SINGLE: %[[B:.+]] = fuseops.group @forward_1 pointwise (%{{.+}} = %[[A]])
// SINGLE-NEXT: fuseops.gelu
// SINGLE-NEXT: fuseops.yield
// SINGLE: fuseops.return %[[B]]
fuseops.fusible @pointwise_chain(%x: tensor<?x8xbf16>, %b: tensor<8xbf16>) -> tensor<?x8xbf16>
forward {
  %0 = fuseops.bias %x, %b : tensor<?x8xbf16>, tensor<8xbf16>
  %1 = fuseops.gelu %0 approximate(tanh) : tensor<?x8xbf16>
  fuseops.return %1 : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @row(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @forward_0 row (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16> {
// CHECK-NEXT:     %[[RESULT:.+]], %[[RSTD:.+]] = fuseops.rms_norm %[[ARG2]] gamma(%[[ARG3]]) eps(5.000000e-01) : (tensor<?x8xbf16>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x1xf32>)
// CHECK-NEXT:     %[[V1:.+]] = fuseops.add %[[RESULT]], %[[ARG2]] : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:     fuseops.yield %[[V1]] : tensor<?x8xbf16>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @row(%x: tensor<?x8xbf16>, %g: tensor<8xbf16>) -> tensor<?x8xbf16>
forward {
  %0, %r = fuseops.rms_norm %x gamma(%g) eps(0.5) : (tensor<?x8xbf16>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x1xf32>)
  %1 = fuseops.add %0, %x : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  fuseops.return %1 : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @row_column(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>) -> tensor<8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @forward_0 row_column (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<?x8xbf16>) -> tensor<8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = fuseops.silu %[[ARG1]] : tensor<?x8xbf16>
// CHECK-NEXT:     %[[V2:.+]] = fuseops.reduce_rows sum %[[V1]] : tensor<?x8xbf16> -> tensor<8xf32>
// CHECK-NEXT:     fuseops.yield %[[V2]] : tensor<8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<8xf32>
// CHECK-NEXT: }
fuseops.fusible @row_column(%x: tensor<?x8xbf16>) -> tensor<8xf32>
forward {
  %0 = fuseops.silu %x : tensor<?x8xbf16>
  %1 = fuseops.reduce_rows sum %0 : tensor<?x8xbf16> -> tensor<8xf32>
  fuseops.return %1 : tensor<8xf32>
}

// Groups stand in an order in which they can run; a contraction is alone.
// CHECK-LABEL: fuseops.fusible @around_library(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<4x8xbf16>) -> tensor<?x4xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @forward_0 pointwise (%[[ARG2:.+]] = %[[ARG0]]) : (tensor<?x8xbf16>) -> tensor<?x8xbf16> {
// CHECK-NEXT:     %[[V3:.+]] = fuseops.silu %[[ARG2]] : tensor<?x8xbf16>
// CHECK-NEXT:     fuseops.yield %[[V3]] : tensor<?x8xbf16>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.group @forward_1 library (%[[ARG2:.+]] = %[[V0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<?x8xbf16>, tensor<4x8xbf16>) -> tensor<?x4xbf16> {
// CHECK-NEXT:     %[[V3:.+]] = fuseops.linear %[[ARG2]], %[[ARG3]] : (tensor<?x8xbf16>, tensor<4x8xbf16>) -> tensor<?x4xbf16>
// CHECK-NEXT:     fuseops.yield %[[V3]] : tensor<?x4xbf16>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V2:.+]] = fuseops.group @forward_2 pointwise (%[[ARG2:.+]] = %[[V1]]) : (tensor<?x4xbf16>) -> tensor<?x4xbf16> {
// CHECK-NEXT:     %[[V3:.+]] = fuseops.relu %[[ARG2]] : tensor<?x4xbf16>
// CHECK-NEXT:     fuseops.yield %[[V3]] : tensor<?x4xbf16>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<?x4xbf16>
// CHECK-NEXT: }
fuseops.fusible @around_library(%x: tensor<?x8xbf16>, %w: tensor<4x8xbf16>) -> tensor<?x4xbf16>
forward {
  %0 = fuseops.silu %x : tensor<?x8xbf16>
  %1 = fuseops.linear %0, %w : (tensor<?x8xbf16>, tensor<4x8xbf16>) -> tensor<?x4xbf16>
  %2 = fuseops.relu %1 : tensor<?x4xbf16>
  fuseops.return %2 : tensor<?x4xbf16>
}

// What others read leaves the group too.
// CHECK-LABEL: fuseops.fusible @inner_value_leaves(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.group @forward_0 pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
// CHECK-NEXT:     %[[V1:.+]] = fuseops.silu %[[ARG1]] : tensor<4x8xf32>
// CHECK-NEXT:     %[[V2:.+]] = fuseops.relu %[[V1]] : tensor<4x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V1]], %[[V2]] : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]]#1, %[[V0]]#0 save(%[[V0]]#0) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @inner_value_leaves(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
forward {
  %0 = fuseops.silu %x : tensor<4x8xf32>
  %1 = fuseops.relu %0 : tensor<4x8xf32>
  fuseops.return %1, %0 save(%0) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// No edge between them, but both read one tensor.
// CHECK-LABEL: fuseops.fusible @siblings(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.group @forward_0 pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
// CHECK-NEXT:     %[[V1:.+]] = fuseops.silu %[[ARG1]] : tensor<4x8xf32>
// CHECK-NEXT:     %[[V2:.+]] = fuseops.relu %[[ARG1]] : tensor<4x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V1]], %[[V2]] : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]]#0, %[[V0]]#1 : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @siblings(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
forward {
  %0 = fuseops.silu %x : tensor<4x8xf32>
  %1 = fuseops.relu %x : tensor<4x8xf32>
  fuseops.return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @nothing_in_common(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @forward_0 pointwise (%[[ARG2:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V2:.+]] = fuseops.silu %[[ARG2]] : tensor<4x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V2]] : tensor<4x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.group @forward_1 pointwise (%[[ARG2:.+]] = %[[ARG1]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V2:.+]] = fuseops.relu %[[ARG2]] : tensor<4x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V2]] : tensor<4x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V1]] : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @nothing_in_common(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
forward {
  %0 = fuseops.silu %x : tensor<4x8xf32>
  %1 = fuseops.relu %y : tensor<4x8xf32>
  fuseops.return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// A single column fits any number of them.
// CHECK-LABEL: fuseops.fusible @one_value_a_row(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @forward_0 row (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = fuseops.reduce_columns max %[[ARG1]] : tensor<?x8xf32> -> tensor<?x1xf32>
// CHECK-NEXT:     %[[V2:.+]] = fuseops.silu %[[V1]] : tensor<?x1xf32>
// CHECK-NEXT:     %[[V3:.+]] = fuseops.mul %[[ARG1]], %[[V2]] : tensor<?x8xf32>, tensor<?x1xf32> -> tensor<?x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V3]] : tensor<?x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @one_value_a_row(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  %0 = fuseops.reduce_columns max %x : tensor<?x8xf32> -> tensor<?x1xf32>
  %1 = fuseops.silu %0 : tensor<?x1xf32>
  %2 = fuseops.mul %x, %1 : tensor<?x8xf32>, tensor<?x1xf32> -> tensor<?x8xf32>
  fuseops.return %2 : tensor<?x8xf32>
}

// A reshape that keeps rows and columns is repeated inside the group.
// CHECK-LABEL: fuseops.fusible @reshape_between_members(
// CHECK-SAME: %[[ARG0:.+]]: tensor<6x2x4xf32>) -> tensor<12x4xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @forward_0 pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<6x2x4xf32>) -> tensor<12x4xf32> {
// CHECK-NEXT:     %[[V1:.+]] = fuseops.silu %[[ARG1]] : tensor<6x2x4xf32>
// CHECK-NEXT:     %[[V2:.+]] = fuseops.reshape %[[V1]] : tensor<6x2x4xf32> -> tensor<12x4xf32>
// CHECK-NEXT:     %[[V3:.+]] = fuseops.relu %[[V2]] : tensor<12x4xf32>
// CHECK-NEXT:     fuseops.yield %[[V3]] : tensor<12x4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<12x4xf32>
// CHECK-NEXT: }
fuseops.fusible @reshape_between_members(%x: tensor<6x2x4xf32>) -> tensor<12x4xf32>
forward {
  %0 = fuseops.silu %x : tensor<6x2x4xf32>
  %1 = fuseops.reshape %0 : tensor<6x2x4xf32> -> tensor<12x4xf32>
  %2 = fuseops.relu %1 : tensor<12x4xf32>
  fuseops.return %2 : tensor<12x4xf32>
}

// A reshape of an argument, and one of a result, stay outside.
// CHECK-LABEL: fuseops.fusible @reshape_outside(
// CHECK-SAME: %[[ARG0:.+]]: tensor<6x2x4xf32>) -> tensor<6x2x4xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<6x2x4xf32> -> tensor<12x4xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.group @forward_0 pointwise (%[[ARG1:.+]] = %[[V0]]) : (tensor<12x4xf32>) -> tensor<12x4xf32> {
// CHECK-NEXT:     %[[V3:.+]] = fuseops.silu %[[ARG1]] : tensor<12x4xf32>
// CHECK-NEXT:     fuseops.yield %[[V3]] : tensor<12x4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V2:.+]] = fuseops.reshape %[[V1]] : tensor<12x4xf32> -> tensor<6x2x4xf32>
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<6x2x4xf32>
// CHECK-NEXT: }
fuseops.fusible @reshape_outside(%x: tensor<6x2x4xf32>) -> tensor<6x2x4xf32>
forward {
  %0 = fuseops.reshape %x : tensor<6x2x4xf32> -> tensor<12x4xf32>
  %1 = fuseops.silu %0 : tensor<12x4xf32>
  %2 = fuseops.reshape %1 : tensor<12x4xf32> -> tensor<6x2x4xf32>
  fuseops.return %2 : tensor<6x2x4xf32>
}

// CHECK-LABEL: fuseops.fusible @reshape_inside_and_outside(
// CHECK-SAME: %[[ARG0:.+]]: tensor<6x2x4xf32>) -> (tensor<12x4xf32>, tensor<12x4xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.group @forward_0 pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<6x2x4xf32>) -> (tensor<6x2x4xf32>, tensor<12x4xf32>) {
// CHECK-NEXT:     %[[V2:.+]] = fuseops.silu %[[ARG1]] : tensor<6x2x4xf32>
// CHECK-NEXT:     %[[V3:.+]] = fuseops.reshape %[[V2]] : tensor<6x2x4xf32> -> tensor<12x4xf32>
// CHECK-NEXT:     %[[V4:.+]] = fuseops.relu %[[V3]] : tensor<12x4xf32>
// CHECK-NEXT:     fuseops.yield %[[V2]], %[[V4]] : tensor<6x2x4xf32>, tensor<12x4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reshape %[[V0]]#0 : tensor<6x2x4xf32> -> tensor<12x4xf32>
// CHECK-NEXT:   fuseops.return %[[V0]]#1, %[[V1]] : tensor<12x4xf32>, tensor<12x4xf32>
// CHECK-NEXT: }
fuseops.fusible @reshape_inside_and_outside(%x: tensor<6x2x4xf32>) -> (tensor<12x4xf32>, tensor<12x4xf32>)
forward {
  %0 = fuseops.silu %x : tensor<6x2x4xf32>
  %1 = fuseops.reshape %0 : tensor<6x2x4xf32> -> tensor<12x4xf32>
  %2 = fuseops.relu %1 : tensor<12x4xf32>
  fuseops.return %2, %1 : tensor<12x4xf32>, tensor<12x4xf32>
}

// The GLU's slices are of an argument: nothing to read back.
// CHECK-LABEL: fuseops.fusible @glu(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x16xbf16>, %[[ARG1:.+]]: tensor<?x16xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @forward_0 pointwise (%[[ARG2:.+]] = %[[ARG0]]) : (tensor<?x16xbf16>) -> tensor<?x8xbf16> {
// CHECK-NEXT:     %[[V1:.+]] = fuseops.swiglu %[[ARG2]] activation(first) : tensor<?x16xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:     fuseops.yield %[[V1]] : tensor<?x8xbf16>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @glu(%x: tensor<?x16xbf16>, %y: tensor<?x16xbf16>) -> tensor<?x8xbf16>
forward {
  %0 = fuseops.swiglu %x activation(first) : tensor<?x16xbf16> -> tensor<?x8xbf16>
  fuseops.return %0 : tensor<?x8xbf16>
}

// Forward fusion leaves backward alone.
// CHECK-LABEL: fuseops.fusible @backward_stays(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @forward_0 pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = fuseops.silu %[[ARG1]] : tensor<4x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V1]] : tensor<4x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.silu_grad %[[ARG0]], %[[ARG1]] : tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @backward_stays(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %0 = fuseops.silu %x : tensor<4x8xf32>
  fuseops.return %0 save(%x) : tensor<4x8xf32>, tensor<4x8xf32>
}
backward (%dy: tensor<4x8xf32>, saved %x: tensor<4x8xf32>) {
  %0 = fuseops.silu_grad %dy, %x : tensor<4x8xf32>
  fuseops.return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @nothing_to_do(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @nothing_to_do(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  fuseops.return %x : tensor<4x8xf32>
}
