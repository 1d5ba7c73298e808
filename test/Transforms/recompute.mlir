// What is cheaper to compute again than to read is computed by several kernels.
// RUN: fuse-opt %s --fuseops-forward-fusion | FileCheck %s
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-forward-fusion --remarks-filter-passed=fuseops-forward-fusion -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: fuse-run %s --entry=widened --check --size 16
// RUN: fuse-run %s --entry=generated --check --size 16

// REMARK-LABEL: "fused fuseops.cast with fuseops.silu"
// REMARK: "computed fuseops.cast again for fuseops.add"

// f32 values are twice what they are widened from: nobody writes them.
// CHECK-LABEL: fuseops.fusible @widened(
// CHECK: %[[S:.+]] = fuseops.group @forward_0 pointwise (%{{.+}} = %[[X:.+]]) : (tensor<?x64xbf16>) -> tensor<?x64xf32> {
// CHECK-NEXT: fuseops.cast
// CHECK-NEXT: fuseops.silu
// CHECK: fuseops.linear
// CHECK: fuseops.group @forward_2 pointwise (%{{.+}} = %[[X]], %{{.+}} = %{{.+}}) : (tensor<?x64xbf16>, tensor<?x64xf32>) -> tensor<?x64xf32> {
// CHECK-NEXT: fuseops.cast %{{.+}} {fuseops.recomputed} : tensor<?x64xbf16> -> tensor<?x64xf32>
// CHECK-NEXT: fuseops.add
fuseops.fusible @widened(%x: tensor<?x64xbf16>, %w: tensor<64x64xf32>) -> tensor<?x64xf32>
forward {
  %t = fuseops.cast %x : tensor<?x64xbf16> -> tensor<?x64xf32>
  %s = fuseops.silu %t : tensor<?x64xf32>
  %m = fuseops.linear %s, %w : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %y = fuseops.add %t, %m : tensor<?x64xf32>, tensor<?x64xf32> -> tensor<?x64xf32>
  fuseops.return %y : tensor<?x64xf32>
}

// The cut is where least is read: of a chain the first operand, not the last.
// CHECK-LABEL: fuseops.fusible @generated(
// CHECK: fuseops.group @forward_0 pointwise (%{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}) : (tensor<?x1xf32>, tensor<64xf32>) -> tensor<?x64xf32> {
// CHECK: fuseops.linear
// CHECK: fuseops.group @forward_2 pointwise (%{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}) : (tensor<?x1xf32>, tensor<64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32> {
// CHECK: fuseops.mul %{{.+}} {fuseops.recomputed} : tensor<?x1xf32>, tensor<64xf32> -> tensor<?x64xf32>
// CHECK: fuseops.silu %{{.+}} {fuseops.recomputed} : tensor<?x64xf32>
fuseops.fusible @generated(%position: tensor<?x1xf32>, %frequency: tensor<64xf32>, %w: tensor<64x64xf32>) -> tensor<?x64xf32>
forward {
  %a = fuseops.mul %position, %frequency : tensor<?x1xf32>, tensor<64xf32> -> tensor<?x64xf32>
  %c = fuseops.silu %a : tensor<?x64xf32>
  %r = fuseops.relu %c : tensor<?x64xf32>
  %m = fuseops.linear %r, %w : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %y = fuseops.add %m, %c : tensor<?x64xf32>, tensor<?x64xf32> -> tensor<?x64xf32>
  fuseops.return %y : tensor<?x64xf32>
}

// bf16 values that a kernel keeps in registers are not rounded, those that it
// writes are: two kernels would see two values.
// CHECK-LABEL: fuseops.fusible @narrow(
// CHECK-NOT: fuseops.recomputed
// CHECK: fuseops.return
fuseops.fusible @narrow(%position: tensor<?x1xbf16>, %frequency: tensor<64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xbf16>
forward {
  %c = fuseops.mul %position, %frequency : tensor<?x1xbf16>, tensor<64xbf16> -> tensor<?x64xbf16>
  %r = fuseops.relu %c : tensor<?x64xbf16>
  %m = fuseops.linear %r, %w : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
  %y = fuseops.add %m, %c : tensor<?x64xbf16>, tensor<?x64xbf16> -> tensor<?x64xbf16>
  fuseops.return %y : tensor<?x64xbf16>
}

// What memory gets anyway is read: it is no more than its operands.
// CHECK-LABEL: fuseops.fusible @stored(
// CHECK-NOT: fuseops.recomputed
// CHECK: fuseops.return
fuseops.fusible @stored(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>)
forward {
  %t = fuseops.relu %x : tensor<?x64xf32>
  %m = fuseops.linear %t, %w : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %y = fuseops.add %t, %m : tensor<?x64xf32>, tensor<?x64xf32> -> tensor<?x64xf32>
  fuseops.return %y, %t : tensor<?x64xf32>, tensor<?x64xf32>
}
