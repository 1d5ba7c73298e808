// One function for each condition of FusionPlan, with its remark.
// RUN: fuse-opt %s --fuseops-backward-fusion | FileCheck %s
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-backward-fusion --remarks-filter-missed=fuseops-backward-fusion --verify-diagnostics -o %t

// CHECK-LABEL: fuseops.fusible @condition_1_not_a_memory_kernel(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return %[[ARG0]] save(%[[ARG0]]) : tensor<?x8xf32>, tensor<?x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xf32>, saved %[[ARG1:.+]]: tensor<?x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @backward_0 library (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<8x8xf32> {
// CHECK-NEXT:     %[[V3:.+]] = fuseops.matmul %[[ARG2]], %[[ARG3]] transpose_lhs : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<8x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V3]] : tensor<8x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.group @backward_1 pointwise (%[[ARG2:.+]] = %[[V0]]) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
// CHECK-NEXT:     %[[V3:.+]] = fuseops.relu %[[ARG2]] : tensor<8x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V3]] : tensor<8x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V2:.+]] = fuseops.group @backward_2 library (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[V1]]) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT:     %[[V3:.+]] = fuseops.matmul %[[ARG2]], %[[ARG3]] : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V3]] : tensor<?x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @condition_1_not_a_memory_kernel(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  fuseops.return %x save(%x) : tensor<?x8xf32>, tensor<?x8xf32>
}
backward (%dy: tensor<?x8xf32>, saved %x: tensor<?x8xf32>) {
  %0 = fuseops.matmul %x, %dy transpose_lhs : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<8x8xf32>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-backward-fusion | Reason="fuseops.matmul with fuseops.relu: condition 1, one of them is not an operation of a memory kernel"}}
  %1 = fuseops.relu %0 : tensor<8x8xf32>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-backward-fusion | Reason="fuseops.relu with fuseops.matmul: condition 1, one of them is not an operation of a memory kernel"}}
  %2 = fuseops.matmul %dy, %1 : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  fuseops.return %2 : tensor<?x8xf32>
}

// CHECK-LABEL: fuseops.fusible @condition_2_iteration_spaces(
// CHECK-SAME: %[[ARG0:.+]]: tensor<6x8xf32>) -> tensor<6x2x4xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reshape %[[ARG0]] : tensor<6x8xf32> -> tensor<6x2x4xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[V0]], %[[ARG0]]) : tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<6x2x4xf32>, saved %[[ARG1:.+]]: tensor<6x2x4xf32>, saved %[[ARG2:.+]]: tensor<6x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @backward_0 pointwise (%[[ARG3:.+]] = %[[ARG0]], %[[ARG4:.+]] = %[[ARG1]]) : (tensor<6x2x4xf32>, tensor<6x2x4xf32>) -> tensor<6x2x4xf32> {
// CHECK-NEXT:     %[[V3:.+]] = fuseops.silu_grad %[[ARG3]], %[[ARG4]] : tensor<6x2x4xf32>
// CHECK-NEXT:     fuseops.yield %[[V3]] : tensor<6x2x4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reshape %[[V0]] : tensor<6x2x4xf32> -> tensor<6x8xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.group @backward_1 pointwise (%[[ARG3:.+]] = %[[V1]], %[[ARG4:.+]] = %[[ARG2]]) : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32> {
// CHECK-NEXT:     %[[V3:.+]] = fuseops.relu_grad %[[ARG3]], %[[ARG4]] : tensor<6x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V3]] : tensor<6x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<6x8xf32>
// CHECK-NEXT: }
fuseops.fusible @condition_2_iteration_spaces(%x: tensor<6x8xf32>) -> tensor<6x2x4xf32>
forward {
  %0 = fuseops.reshape %x : tensor<6x8xf32> -> tensor<6x2x4xf32>
  fuseops.return %0 save(%0, %x) : tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x8xf32>
}
backward (%dy: tensor<6x2x4xf32>, saved %y: tensor<6x2x4xf32>, saved %x: tensor<6x8xf32>) {
  %0 = fuseops.silu_grad %dy, %y : tensor<6x2x4xf32>
  %1 = fuseops.reshape %0 : tensor<6x2x4xf32> -> tensor<6x8xf32>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-backward-fusion | Reason="fuseops.silu_grad with fuseops.relu_grad: condition 2, their iteration spaces differ"}}
  %2 = fuseops.relu_grad %1, %x : tensor<6x8xf32>
  fuseops.return %2 : tensor<6x8xf32>
}

// CHECK-LABEL: fuseops.fusible @condition_3_another_group_between(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>, %[[ARG1:.+]]: tensor<8x8xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return %[[ARG0]] save(%[[ARG0]], %[[ARG1]]) : tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xf32>, saved %[[ARG1:.+]]: tensor<?x8xf32>, saved %[[ARG2:.+]]: tensor<8x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @backward_0 pointwise (%[[ARG3:.+]] = %[[ARG0]], %[[ARG4:.+]] = %[[ARG1]]) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT:     %[[V3:.+]] = fuseops.silu_grad %[[ARG3]], %[[ARG4]] : tensor<?x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V3]] : tensor<?x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.group @backward_1 library (%[[ARG3:.+]] = %[[V0]], %[[ARG4:.+]] = %[[ARG2]]) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT:     %[[V3:.+]] = fuseops.matmul %[[ARG3]], %[[ARG4]] : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V3]] : tensor<?x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V2:.+]] = fuseops.group @backward_2 pointwise (%[[ARG3:.+]] = %[[V0]], %[[ARG4:.+]] = %[[V1]]) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT:     %[[V3:.+]] = fuseops.add %[[ARG3]], %[[ARG4]] : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V3]] : tensor<?x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V2]], none : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @condition_3_another_group_between(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32>
forward {
  fuseops.return %x save(%x, %w) : tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x8xf32>
}
backward (%dy: tensor<?x8xf32>, saved %x: tensor<?x8xf32>, saved %w: tensor<8x8xf32>) {
  %0 = fuseops.silu_grad %dy, %x : tensor<?x8xf32>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-backward-fusion | Reason="fuseops.silu_grad with fuseops.matmul: condition 1, one of them is not an operation of a memory kernel"}}
  %1 = fuseops.matmul %0, %w : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-backward-fusion | Reason="fuseops.silu_grad with fuseops.add: condition 3, another group lies between them"}}
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-backward-fusion | Reason="fuseops.matmul with fuseops.add: condition 1, one of them is not an operation of a memory kernel"}}
  %2 = fuseops.add %0, %1 : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  fuseops.return %2, none : tensor<?x8xf32>
}

// CHECK-LABEL: fuseops.fusible @condition_4_reads_reduction_over_rows(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return %[[ARG0]] : tensor<?x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @backward_0 row_column (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<?x8xf32>) -> tensor<8xf32> {
// CHECK-NEXT:     %[[V2:.+]] = fuseops.reduce_rows sum %[[ARG1]] : tensor<?x8xf32> -> tensor<8xf32>
// CHECK-NEXT:     fuseops.yield %[[V2]] : tensor<8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.group @backward_1 pointwise (%[[ARG1:.+]] = %[[ARG0]], %[[ARG2:.+]] = %[[V0]]) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT:     %[[V2:.+]] = fuseops.mul %[[ARG1]], %[[ARG2]] : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V2]] : tensor<?x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @condition_4_reads_reduction_over_rows(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  fuseops.return %x : tensor<?x8xf32>
}
backward (%dy: tensor<?x8xf32>) {
  %0 = fuseops.reduce_rows sum %dy : tensor<?x8xf32> -> tensor<8xf32>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-backward-fusion | Reason="fuseops.reduce_rows with fuseops.mul: condition 4, one reads the reduction over rows that the other computes"}}
  %1 = fuseops.mul %dy, %0 : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x8xf32>
  fuseops.return %1 : tensor<?x8xf32>
}

// CHECK-LABEL: fuseops.fusible @condition_5_slices_what_the_other_computes(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return %[[ARG0]] : tensor<?x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @backward_0 pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT:     %[[V2:.+]] = fuseops.silu %[[ARG1]] : tensor<?x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V2]] : tensor<?x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.group @backward_1 pointwise (%[[ARG1]] = %[[V0]]) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT:     %[[V2]] = fuseops.slice %[[ARG1]] dim(1) offset(7) step(-1) : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V2]] : tensor<?x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @condition_5_slices_what_the_other_computes(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  fuseops.return %x : tensor<?x8xf32>
}
backward (%dy: tensor<?x8xf32>) {
  %0 = fuseops.silu %dy : tensor<?x8xf32>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-backward-fusion | Reason="fuseops.silu with fuseops.slice: condition 5, one moves elements of what the other computes"}}
  %1 = fuseops.slice %0 dim(1) offset(7) step(-1) : tensor<?x8xf32> -> tensor<?x8xf32>
  fuseops.return %1 : tensor<?x8xf32>
}

// CHECK-LABEL: fuseops.fusible @condition_5_reads_what_the_other_concatenates(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>) -> tensor<?x4xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(0) : tensor<?x8xf32> -> tensor<?x4xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<?x4xf32>, tensor<?x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x4xf32>, saved %[[ARG1:.+]]: tensor<?x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @backward_0 pointwise (%[[ARG2:.+]] = %[[ARG0]]) : (tensor<?x4xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT:     %[[V2:.+]] = fuseops.concat %[[ARG2]], %[[ARG2]] dim(1) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V2]] : tensor<?x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.group @backward_1 pointwise (%[[ARG2]] = %[[V0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT:     %[[V2]] = fuseops.relu_grad %[[ARG2]], %[[ARG3]] : tensor<?x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V2]] : tensor<?x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @condition_5_reads_what_the_other_concatenates(%x: tensor<?x8xf32>) -> tensor<?x4xf32>
forward {
  %0 = fuseops.slice %x dim(1) offset(0) : tensor<?x8xf32> -> tensor<?x4xf32>
  fuseops.return %0 save(%x) : tensor<?x4xf32>, tensor<?x8xf32>
}
backward (%dy: tensor<?x4xf32>, saved %x: tensor<?x8xf32>) {
  %0 = fuseops.concat %dy, %dy dim(1) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-backward-fusion | Reason="fuseops.concat with fuseops.relu_grad: condition 5, one moves elements of what the other computes"}}
  %1 = fuseops.relu_grad %0, %x : tensor<?x8xf32>
  fuseops.return %1 : tensor<?x8xf32>
}
