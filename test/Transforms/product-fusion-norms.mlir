// Norms of what a product's kernel computes: the kernel has their statistics.
// RUN: fuse-opt %s --fuseops-forward-fusion=generate=all | FileCheck %s
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-forward-fusion=generate=all --remarks-filter-missed=fuseops-forward-fusion --verify-diagnostics -o %t
// Without products the norm stays whole.
// RUN: fuse-opt %s --fuseops-forward-fusion | FileCheck %s --check-prefix=LIBRARY

// A finalize kernel gives the root mean square's inverse, and the next kernel reads it.
// CHECK-LABEL: fuseops.fusible @rms_norm
// CHECK: %[[P:.+]]:2 = fuseops.group @forward_0 gemm
// CHECK-NEXT: fuseops.linear
// CHECK-NEXT: %[[H:.+]] = fuseops.add
// CHECK-NEXT: fuseops.pointwise
// CHECK: fuseops.reduce_columns sum
// CHECK-NEXT: %[[S:.+]] = fuseops.pointwise
// CHECK: fuseops.yield %[[H]], %[[S]] : tensor<?x4096xbf16>, tensor<?x1xf32>
// CHECK: fuseops.group @forward_1 pointwise ({{.+}} = %[[P]]#0, {{.+}} = %[[P]]#1
// CHECK-NEXT: fuseops.pointwise
// LIBRARY-LABEL: fuseops.fusible @rms_norm
// LIBRARY: fuseops.group @forward_1 row
// LIBRARY-NEXT: fuseops.add
// LIBRARY-NEXT: fuseops.rms_norm
fuseops.fusible @rms_norm(%x: tensor<?x1024xbf16>, %w: tensor<4096x1024xbf16>, %r: tensor<?x4096xbf16>, %g: tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x4096xbf16>, tensor<?x1xf32>)
forward {
  %z = fuseops.linear %x, %w : (tensor<?x1024xbf16>, tensor<4096x1024xbf16>) -> tensor<?x4096xbf16>
  %h = fuseops.add %z, %r : tensor<?x4096xbf16>, tensor<?x4096xbf16> -> tensor<?x4096xbf16>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.add with fuseops.pointwise: condition 6, a tile kernel reads statistics of rows that it would have to compute"}}
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.pointwise with fuseops.pointwise: condition 6, a tile kernel reads statistics of rows that it would have to compute"}}
  %y, %s = fuseops.rms_norm %h gamma(%g) eps(1.0e-05) : (tensor<?x4096xbf16>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x1xf32>)
  fuseops.return %h, %y, %s : tensor<?x4096xbf16>, tensor<?x4096xbf16>, tensor<?x1xf32>
}

// Launches cost more than there is to gain.
// CHECK-LABEL: fuseops.fusible @few_rows
// CHECK: fuseops.group @forward_0 gemm
// CHECK-NEXT: fuseops.linear
// CHECK-NEXT: fuseops.add
// CHECK-NEXT: fuseops.yield
// CHECK: fuseops.group @forward_1 row
// CHECK-NEXT: fuseops.pointwise
// CHECK: fuseops.reduce_columns
fuseops.fusible @few_rows(%x: tensor<256x1024xbf16>, %w: tensor<512x1024xbf16>, %r: tensor<256x512xbf16>) -> (tensor<256x512xbf16>, tensor<256x512xbf16>)
forward {
  %z = fuseops.linear %x, %w : (tensor<256x1024xbf16>, tensor<512x1024xbf16>) -> tensor<256x512xbf16>
  %h = fuseops.add %z, %r : tensor<256x512xbf16>, tensor<256x512xbf16> -> tensor<256x512xbf16>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.add with fuseops.pointwise: condition 6, a tile kernel reads statistics of rows that it would have to compute"}}
  %y, %s = fuseops.rms_norm %h eps(1.0e-05) : (tensor<256x512xbf16>) -> (tensor<256x512xbf16>, tensor<256x1xf32>)
  fuseops.return %h, %y : tensor<256x512xbf16>, tensor<256x512xbf16>
}

// The variance needs the mean: two passes over a row.
// CHECK-LABEL: fuseops.fusible @two_passes
// CHECK: fuseops.group @forward_0 gemm
// CHECK-NEXT: fuseops.linear
// CHECK-NEXT: fuseops.add
// CHECK-NEXT: fuseops.yield
// CHECK: fuseops.group @forward_1 row
// CHECK-NEXT: fuseops.layer_norm
fuseops.fusible @two_passes(%x: tensor<?x1024xbf16>, %w: tensor<4096x1024xbf16>, %r: tensor<?x4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x4096xbf16>)
forward {
  %z = fuseops.linear %x, %w : (tensor<?x1024xbf16>, tensor<4096x1024xbf16>) -> tensor<?x4096xbf16>
  %h = fuseops.add %z, %r : tensor<?x4096xbf16>, tensor<?x4096xbf16> -> tensor<?x4096xbf16>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.add with fuseops.layer_norm: condition 9, the kernel of a product does not do what the other does"}}
  %y, %m, %s = fuseops.layer_norm %h eps(1.0e-05) : (tensor<?x4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
  fuseops.return %h, %y : tensor<?x4096xbf16>, tensor<?x4096xbf16>
}

// A norm of an input has nothing to join.
// CHECK-LABEL: fuseops.fusible @of_an_input
// CHECK: fuseops.group @forward_0 row
// CHECK-NEXT: fuseops.rms_norm
fuseops.fusible @of_an_input(%x: tensor<?x1024xbf16>, %w: tensor<4096x1024xbf16>) -> tensor<?x4096xbf16>
forward {
  %y, %s = fuseops.rms_norm %x eps(1.0e-05) : (tensor<?x1024xbf16>) -> (tensor<?x1024xbf16>, tensor<?x1xf32>)
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.rms_norm with fuseops.linear: condition 2, their iteration spaces differ"}}
  %z = fuseops.linear %y, %w : (tensor<?x1024xbf16>, tensor<4096x1024xbf16>) -> tensor<?x4096xbf16>
  fuseops.return %z : tensor<?x4096xbf16>
}
