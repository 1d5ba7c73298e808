// One function for each condition of fuseops-quantize, with its remark.
// RUN: fuse-opt %s --fuseops-quantize=recipe=block | FileCheck %s --implicit-check-not="fuseops.quantize %"
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-quantize=recipe=block --remarks-filter=fuseops-quantize --verify-diagnostics -o %t

// CHECK-LABEL: fuseops.fusible @condition_1_own_recipe_none(
// CHECK: fuseops.linear %{{.*}}, %{{.*}} {fuseops.recipe = #fuseops.recipe<none>} : (tensor<?x32xbf16>, tensor<32x32xbf16>) -> tensor<?x32xbf16>
fuseops.fusible @condition_1_own_recipe_none(%x: tensor<?x32xbf16>, %w: tensor<32x32xbf16>) -> tensor<?x32xbf16>
forward {
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-quantize | Reason="fuseops.linear stays in high precision: condition 1, its recipe is `none`"}}
  %0 = fuseops.linear %x, %w {fuseops.recipe = #fuseops.recipe<none>} : (tensor<?x32xbf16>, tensor<32x32xbf16>) -> tensor<?x32xbf16>
  fuseops.return %0 : tensor<?x32xbf16>
}

// CHECK-LABEL: fuseops.fusible @condition_2_groups(
// CHECK: fuseops.grouped_matmul
fuseops.fusible @condition_2_groups(%x: tensor<?x32xbf16>, %w: tensor<8x32x64xbf16>, %n: tensor<8xi64>) -> tensor<?x64xbf16>
forward {
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-quantize | Reason="fuseops.grouped_matmul stays in high precision: condition 2, products of groups have no quantized operands"}}
  %0 = fuseops.grouped_matmul %x, %w sizes(%n) : tensor<?x32xbf16>, tensor<8x32x64xbf16>, tensor<8xi64> -> tensor<?x64xbf16>
  fuseops.return %0 : tensor<?x64xbf16>
}

// CHECK-LABEL: fuseops.fusible @condition_3_quantized_already(
// CHECK: fuseops.linear %{{.*}}, %{{.*}} : (!fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>, tensor<32x32xbf16>)
fuseops.fusible @condition_3_quantized_already(%x: !fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>, %w: tensor<32x32xbf16>) -> tensor<?x32xbf16>
forward {
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-quantize | Reason="fuseops.linear stays in high precision: condition 3, an operand is quantized already"}}
  %0 = fuseops.linear %x, %w : (!fuseops.quantized<?x32xf8E4M3FN, scale = per_row, copies = row>, tensor<32x32xbf16>) -> tensor<?x32xbf16>
  fuseops.return %0 : tensor<?x32xbf16>
}

// CHECK-LABEL: fuseops.fusible @condition_4_f64(
// CHECK: fuseops.linear %{{.*}}, %{{.*}} : (tensor<?x32xf64>, tensor<32x32xf64>)
fuseops.fusible @condition_4_f64(%x: tensor<?x32xf64>, %w: tensor<32x32xf64>) -> tensor<?x32xf64>
forward {
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-quantize | Reason="fuseops.linear stays in high precision: condition 4, its operands are not f16, bf16 or f32"}}
  %0 = fuseops.linear %x, %w : (tensor<?x32xf64>, tensor<32x32xf64>) -> tensor<?x32xf64>
  fuseops.return %0 : tensor<?x32xf64>
}

// CHECK-LABEL: fuseops.fusible @condition_5_few_columns(
// CHECK: fuseops.linear %{{.*}}, %{{.*}} : (tensor<?x32xbf16>, tensor<15x32xbf16>)
fuseops.fusible @condition_5_few_columns(%x: tensor<?x32xbf16>, %w: tensor<15x32xbf16>) -> tensor<?x15xbf16>
forward {
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-quantize | Reason="fuseops.linear stays in high precision: condition 5, an operand or the result has fewer than 16 columns"}}
  %0 = fuseops.linear %x, %w : (tensor<?x32xbf16>, tensor<15x32xbf16>) -> tensor<?x15xbf16>
  fuseops.return %0 : tensor<?x15xbf16>
}

// CHECK-LABEL: fuseops.fusible @condition_6_multiple_of_symbol(
// CHECK: fuseops.linear %{{.*}}, %{{.*}} : (tensor<?x4x32xbf16>, tensor<32x32xbf16>)
fuseops.fusible @condition_6_multiple_of_symbol(%x: tensor<?x4x32xbf16>, %w: tensor<32x32xbf16>) -> tensor<?x4x32xbf16>
forward {
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-quantize | Reason="fuseops.linear stays in high precision: condition 6, the number of rows of an operand is a multiple of `?`"}}
  %0 = fuseops.linear %x, %w : (tensor<?x4x32xbf16>, tensor<32x32xbf16>) -> tensor<?x4x32xbf16>
  fuseops.return %0 : tensor<?x4x32xbf16>
}

// CHECK-LABEL: fuseops.fusible @condition_7_high_precision_wgrad(
// CHECK: fuseops.matmul %{{.*}}, %{{.*}} transpose_lhs : tensor<?x32xbf16>, tensor<?x32xbf16>
fuseops.fusible @condition_7_high_precision_wgrad(%x: tensor<?x32xbf16>) -> tensor<?x32xbf16> attributes {fuseops.recipe = #fuseops.recipe<rowwise, high_precision_wgrad = true>}
forward {
  fuseops.return %x save(%x) : tensor<?x32xbf16>, tensor<?x32xbf16>
}
backward (%dy: tensor<?x32xbf16>, saved %x: tensor<?x32xbf16>) {
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-quantize | Reason="fuseops.matmul stays in high precision: condition 7, the recipe computes weight gradients in high precision"}}
  %0 = fuseops.matmul %dy, %x transpose_lhs : tensor<?x32xbf16>, tensor<?x32xbf16> -> tensor<32x32xbf16>
  %1 = fuseops.reduce_rows sum %0 : tensor<32x32xbf16> -> tensor<32xbf16>
  %2 = fuseops.bias %dy, %1 : tensor<?x32xbf16>, tensor<32xbf16>
  fuseops.return %2 : tensor<?x32xbf16>
}

// CHECK-LABEL: fuseops.fusible @condition_8_no_state(
// CHECK: fuseops.matmul %{{.*}}, %{{.*}} transpose_lhs : tensor<?x32xbf16>, tensor<?x32xbf16>
fuseops.fusible @condition_8_no_state(%x: tensor<?x32xbf16>) -> tensor<?x32xbf16> attributes {fuseops.recipe = #fuseops.recipe<delayed>}
forward {
  fuseops.return %x save(%x) : tensor<?x32xbf16>, tensor<?x32xbf16>
}
backward (%dy: tensor<?x32xbf16>, saved %x: tensor<?x32xbf16>) {
  %r = fuseops.relu %x : tensor<?x32xbf16>
  // expected-remark @below {{[Missed] Quantize | Category:fuseops-quantize | Reason="fuseops.matmul stays in high precision: condition 8, an operand has no state: backward computes it, and it is no gradient"}}
  %0 = fuseops.matmul %dy, %r transpose_lhs : tensor<?x32xbf16>, tensor<?x32xbf16> -> tensor<32x32xbf16>
  %1 = fuseops.reduce_rows sum %0 : tensor<32x32xbf16> -> tensor<32xbf16>
  %2 = fuseops.bias %dy, %1 : tensor<?x32xbf16>, tensor<32xbf16>
  fuseops.return %2 : tensor<?x32xbf16>
}
