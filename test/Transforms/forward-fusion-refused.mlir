// One function for each condition of FusionPlan, with its remark.
// RUN: fuse-opt %s --fuseops-forward-fusion | FileCheck %s
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-forward-fusion --remarks-filter-missed=fuseops-forward-fusion --verify-diagnostics -o %t

// CHECK-LABEL: fuseops.fusible @condition_1_not_a_memory_kernel(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<8x8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @forward_0 library (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16> {
// CHECK-NEXT:     %[[V2:.+]] = fuseops.linear %[[ARG2]], %[[ARG3]] : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT:     fuseops.yield %[[V2]] : tensor<?x8xbf16>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.group @forward_1 pointwise (%[[ARG2:.+]] = %[[V0]]) : (tensor<?x8xbf16>) -> tensor<?x8xbf16> {
// CHECK-NEXT:     %[[V2:.+]] = fuseops.relu %[[ARG2]] : tensor<?x8xbf16>
// CHECK-NEXT:     fuseops.yield %[[V2]] : tensor<?x8xbf16>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @condition_1_not_a_memory_kernel(%x: tensor<?x8xbf16>, %w: tensor<8x8xbf16>) -> tensor<?x8xbf16>
forward {
  %0 = fuseops.linear %x, %w : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.linear with fuseops.relu: condition 1, one of them is not an operation of a memory kernel"}}
  %1 = fuseops.relu %0 : tensor<?x8xbf16>
  fuseops.return %1 : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @condition_2_iteration_spaces(
// CHECK-SAME: %[[ARG0:.+]]: tensor<6x2x4xf32>) -> tensor<6x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @forward_0 pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<6x2x4xf32>) -> tensor<6x2x4xf32> {
// CHECK-NEXT:     %[[V3:.+]] = fuseops.silu %[[ARG1]] : tensor<6x2x4xf32>
// CHECK-NEXT:     fuseops.yield %[[V3]] : tensor<6x2x4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reshape %[[V0]] : tensor<6x2x4xf32> -> tensor<6x8xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.group @forward_1 pointwise (%[[ARG1:.+]] = %[[V1]]) : (tensor<6x8xf32>) -> tensor<6x8xf32> {
// CHECK-NEXT:     %[[V3:.+]] = fuseops.relu %[[ARG1]] : tensor<6x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V3]] : tensor<6x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<6x8xf32>
// CHECK-NEXT: }
fuseops.fusible @condition_2_iteration_spaces(%x: tensor<6x2x4xf32>) -> tensor<6x8xf32>
forward {
  %0 = fuseops.silu %x : tensor<6x2x4xf32>
  %1 = fuseops.reshape %0 : tensor<6x2x4xf32> -> tensor<6x8xf32>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.silu with fuseops.relu: condition 2, their iteration spaces differ"}}
  %2 = fuseops.relu %1 : tensor<6x8xf32>
  fuseops.return %2 : tensor<6x8xf32>
}

// CHECK-LABEL: fuseops.fusible @condition_3_another_group_between(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<8x8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @forward_0 pointwise (%[[ARG2:.+]] = %[[ARG0]]) : (tensor<?x8xbf16>) -> tensor<?x8xbf16> {
// CHECK-NEXT:     %[[V3:.+]] = fuseops.silu %[[ARG2]] : tensor<?x8xbf16>
// CHECK-NEXT:     fuseops.yield %[[V3]] : tensor<?x8xbf16>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.group @forward_1 library (%[[ARG2:.+]] = %[[V0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16> {
// CHECK-NEXT:     %[[V3:.+]] = fuseops.linear %[[ARG2]], %[[ARG3]] : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT:     fuseops.yield %[[V3]] : tensor<?x8xbf16>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V2:.+]] = fuseops.group @forward_2 pointwise (%[[ARG2:.+]] = %[[V0]], %[[ARG3:.+]] = %[[V1]]) : (tensor<?x8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16> {
// CHECK-NEXT:     %[[V3:.+]] = fuseops.add %[[ARG2]], %[[ARG3]] : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
// CHECK-NEXT:     fuseops.yield %[[V3]] : tensor<?x8xbf16>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<?x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @condition_3_another_group_between(%x: tensor<?x8xbf16>, %w: tensor<8x8xbf16>) -> tensor<?x8xbf16>
forward {
  %0 = fuseops.silu %x : tensor<?x8xbf16>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.silu with fuseops.linear: condition 1, one of them is not an operation of a memory kernel"}}
  %1 = fuseops.linear %0, %w : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.silu with fuseops.add: condition 3, another group lies between them"}}
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.linear with fuseops.add: condition 1, one of them is not an operation of a memory kernel"}}
  %2 = fuseops.add %0, %1 : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  fuseops.return %2 : tensor<?x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @condition_4_reads_reduction_over_rows(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @forward_0 row_column (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<?x8xf32>) -> tensor<8xf32> {
// CHECK-NEXT:     %[[V2:.+]] = fuseops.reduce_rows sum %[[ARG1]] : tensor<?x8xf32> -> tensor<8xf32>
// CHECK-NEXT:     fuseops.yield %[[V2]] : tensor<8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.group @forward_1 pointwise (%[[ARG1:.+]] = %[[ARG0]], %[[ARG2:.+]] = %[[V0]]) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT:     %[[V2:.+]] = fuseops.mul %[[ARG1]], %[[ARG2]] : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V2]] : tensor<?x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @condition_4_reads_reduction_over_rows(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  %0 = fuseops.reduce_rows sum %x : tensor<?x8xf32> -> tensor<8xf32>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.reduce_rows with fuseops.mul: condition 4, one reads the reduction over rows that the other computes"}}
  %1 = fuseops.mul %x, %0 : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x8xf32>
  fuseops.return %1 : tensor<?x8xf32>
}

// CHECK-LABEL: fuseops.fusible @condition_5_slices_what_the_other_computes(
// CHECK: fuseops.group @forward_0 pointwise
// CHECK-NEXT: fuseops.silu
// CHECK: fuseops.group @forward_1 pointwise
// CHECK-NEXT: fuseops.slice
fuseops.fusible @condition_5_slices_what_the_other_computes(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  %0 = fuseops.silu %x : tensor<?x8xf32>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.silu with fuseops.slice: condition 5, one moves elements of what the other computes"}}
  %1 = fuseops.slice %0 dim(1) offset(7) step(-1) : tensor<?x8xf32> -> tensor<?x8xf32>
  fuseops.return %1 : tensor<?x8xf32>
}

// A permutation is read through where a memory operation reads it.
// CHECK-LABEL: fuseops.fusible @condition_5_permutes_what_the_other_computes(
// CHECK: fuseops.group @forward_0 pointwise
// CHECK-NEXT: fuseops.silu
// CHECK: fuseops.group @forward_1 pointwise
// CHECK-NEXT: fuseops.permute
// CHECK-NEXT: fuseops.relu
fuseops.fusible @condition_5_permutes_what_the_other_computes(%x: tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
forward {
  %0 = fuseops.silu %x : tensor<?x4x4xf32>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.silu with fuseops.permute: condition 5, one moves elements of what the other computes"}}
  %1 = fuseops.permute %0 order[0, 2, 1] : tensor<?x4x4xf32> -> tensor<?x4x4xf32>
  %2 = fuseops.relu %1 : tensor<?x4x4xf32>
  fuseops.return %2 : tensor<?x4x4xf32>
}

// CHECK-LABEL: fuseops.fusible @condition_5_reads_what_the_other_concatenates(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x4xf32>, %[[ARG1:.+]]: tensor<?x4xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.group @forward_0 pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT:     %[[V2:.+]] = fuseops.concat %[[ARG2]], %[[ARG3]] dim(1) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V2]] : tensor<?x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.group @forward_1 pointwise (%[[ARG2:.+]] = %[[V0]]) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT:     %[[V2:.+]] = fuseops.relu %[[ARG2]] : tensor<?x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V2]] : tensor<?x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @condition_5_reads_what_the_other_concatenates(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x8xf32>
forward {
  %0 = fuseops.concat %x, %y dim(1) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.concat with fuseops.relu: condition 5, one moves elements of what the other computes"}}
  %1 = fuseops.relu %0 : tensor<?x8xf32>
  fuseops.return %1 : tensor<?x8xf32>
}
