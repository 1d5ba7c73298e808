// Rows of no elements have amax 0 and scale 1, though their largest magnitude is
// not defined.
// RUN: fuse-opt %s --pass-pipeline='builtin.module(fuseops.fusible(fuseops-expand-quantized))' | FileCheck %s
// RUN: fuse-compile %s --target=cpu -o %t

// CHECK-NOT: fuseops.reduce_columns
fuseops.fusible @f(%x: tensor<5x0xf32> {fuseops.frozen}) -> !fuseops.quantized<5x0xf8E5M2, scale = per_row, copies = row>
forward {
  %q = fuseops.quantize %x : (tensor<5x0xf32>) -> !fuseops.quantized<5x0xf8E5M2, scale = per_row, copies = row>
  fuseops.return %q : !fuseops.quantized<5x0xf8E5M2, scale = per_row, copies = row>
}
