// Contractions with what is computed of their results, for a kernel that is
// generated.
// RUN: fuse-opt %s --fuseops-forward-fusion=generate=all | FileCheck %s
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-forward-fusion=generate=all --remarks-filter-missed=fuseops-forward-fusion --verify-diagnostics -o %t

// CHECK-LABEL: fuseops.fusible @epilogue
// CHECK: fuseops.group @forward_0 gemm
// CHECK-NEXT: fuseops.linear
// CHECK-NEXT: fuseops.gelu
// CHECK-NEXT: fuseops.add
// CHECK-NEXT: fuseops.yield
// CHECK-NOT: fuseops.group
fuseops.fusible @epilogue(%x: tensor<?x64xbf16>, %w: tensor<128x64xbf16>, %r: tensor<?x128xbf16>) -> tensor<?x128xbf16>
forward {
  %z = fuseops.linear %x, %w : (tensor<?x64xbf16>, tensor<128x64xbf16>) -> tensor<?x128xbf16>
  %g = fuseops.gelu %z approximate(tanh) : tensor<?x128xbf16>
  %y = fuseops.add %g, %r : tensor<?x128xbf16>, tensor<?x128xbf16> -> tensor<?x128xbf16>
  fuseops.return %y : tensor<?x128xbf16>
}

// CHECK-LABEL: fuseops.fusible @sums
// CHECK: fuseops.group @forward_0 gemm
// CHECK-NEXT: fuseops.linear
// CHECK-NEXT: fuseops.gelu_grad
// CHECK-NEXT: fuseops.reduce_rows
// CHECK-NEXT: fuseops.amax
// CHECK-NOT: fuseops.group
fuseops.fusible @sums(%x: tensor<?x64xbf16>, %w: tensor<128x64xbf16>, %z: tensor<?x128xbf16>) -> (tensor<?x128xbf16>, tensor<128xbf16>, tensor<f32>)
forward {
  %dy = fuseops.linear %x, %w : (tensor<?x64xbf16>, tensor<128x64xbf16>) -> tensor<?x128xbf16>
  %dz = fuseops.gelu_grad %dy, %z approximate(tanh) : tensor<?x128xbf16>
  %db = fuseops.reduce_rows sum %dz : tensor<?x128xbf16> -> tensor<128xbf16>
  %m = fuseops.amax %dz : tensor<?x128xbf16> -> tensor<f32>
  fuseops.return %dz, %db, %m : tensor<?x128xbf16>, tensor<128xbf16>, tensor<f32>
}

// One contraction a kernel, and none of what it reads. By itself it is a library
// call.
// CHECK-LABEL: fuseops.fusible @chain
// CHECK: fuseops.group @forward_0 gemm
// CHECK-NEXT: fuseops.linear
// CHECK-NEXT: fuseops.relu
// CHECK: fuseops.group @forward_1 library
// CHECK-NEXT: fuseops.linear
fuseops.fusible @chain(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xbf16>
forward {
  %y = fuseops.linear %x, %w : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
  %r = fuseops.relu %y : tensor<?x64xbf16>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.relu with fuseops.linear: condition 1, one of them is not an operation of a memory kernel"}}
  %z = fuseops.linear %r, %w : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
  fuseops.return %z : tensor<?x64xbf16>
}

// CHECK-LABEL: fuseops.fusible @condition_9_operand
// CHECK: fuseops.group @forward_0 pointwise
// CHECK: fuseops.group @forward_1 library
fuseops.fusible @condition_9_operand(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xbf16>
forward {
  %r = fuseops.relu %x : tensor<?x64xbf16>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.relu with fuseops.linear: condition 9, the kernel of a product does not do what the other does"}}
  %z = fuseops.linear %r, %w : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
  fuseops.return %z : tensor<?x64xbf16>
}

// CHECK-LABEL: fuseops.fusible @condition_9_rows
// CHECK: fuseops.group @forward_0 library
// CHECK: fuseops.group @forward_1 row
fuseops.fusible @condition_9_rows(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xbf16>
forward {
  %z = fuseops.linear %x, %w : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.linear with fuseops.softmax: condition 9, the kernel of a product does not do what the other does"}}
  %s = fuseops.softmax %z : tensor<?x64xbf16> -> tensor<?x64xbf16>
  fuseops.return %s : tensor<?x64xbf16>
}

// CHECK-LABEL: fuseops.fusible @condition_1_not_made
// CHECK: fuseops.group @forward_0 library
fuseops.fusible @condition_1_not_made(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>) -> tensor<?x64xf32>
forward {
  %z = fuseops.linear %x, %w : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.linear with fuseops.relu: condition 1, one of them is not an operation of a memory kernel"}}
  %r = fuseops.relu %z : tensor<?x64xf32>
  fuseops.return %r : tensor<?x64xf32>
}

// CHECK-LABEL: fuseops.fusible @condition_10
// CHECK: fuseops.group @forward_0 library
// CHECK: fuseops.group @forward_1 pointwise
fuseops.fusible @condition_10(%a: tensor<64x?xf8E5M2>, %s: tensor<f32>, %b: tensor<64x?xf8E4M3FN>, %t: tensor<f32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32>
forward {
  %p = fuseops.scaled_matmul %a[%s] per_tensor, %b[%t] per_tensor : (tensor<64x?xf8E5M2>, tensor<f32>, tensor<64x?xf8E4M3FN>, tensor<f32>) -> tensor<64x64xf32>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.scaled_matmul with fuseops.add: condition 10, the kernel of a product takes no rows of any length"}}
  %q = fuseops.add %p, %c : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  fuseops.return %q : tensor<64x64xf32>
}
