// Maxima and minima, and what is not differentiated.
// RUN: fuse-opt %s --fuseops-differentiate | FileCheck %s

// The elements that tie for the result share its gradient.
// CHECK-LABEL: fuseops.fusible @maximum_of_columns(
// CHECK: fuseops.return %{{.+}} save(%{{.+}}, %{{.+}}) : tensor<?x1xbf16>, tensor<?x8xbf16>, tensor<?x1xbf16>
// CHECK: backward (%[[DY:.+]]: tensor<?x1xbf16>, saved %[[X:.+]]: tensor<?x8xbf16>, saved %[[Y:.+]]: tensor<?x1xbf16>) {
// CHECK-NEXT: %[[TIES:.+]] = fuseops.pointwise (%[[A:.+]] = %[[X]], %[[B:.+]] = %[[Y]]) : (tensor<?x8xbf16>, tensor<?x1xbf16>) -> tensor<?x8xi1> {
// CHECK-NEXT:   %[[STORED_A:.+]] = arith.truncf %[[A]] : f32 to bf16
// CHECK-NEXT:   %[[ROUND_A:.+]] = arith.extf %[[STORED_A]] : bf16 to f32
// CHECK-NEXT:   %[[STORED_B:.+]] = arith.truncf %[[B]] : f32 to bf16
// CHECK-NEXT:   %[[ROUND_B:.+]] = arith.extf %[[STORED_B]] : bf16 to f32
// CHECK-NEXT:   %[[IS:.+]] = arith.cmpf oeq, %[[ROUND_A]], %[[ROUND_B]] : f32
// CHECK-NEXT:   fuseops.yield %[[IS]] : i1
// CHECK-NEXT: }
// CHECK-NEXT: %[[COUNT:.+]] = fuseops.reduce_columns sum %[[TIES]] : tensor<?x8xi1> -> tensor<?x1xi64>
// CHECK-NEXT: %[[SHARE:.+]] = fuseops.pointwise (%[[A:.+]] = %[[DY]], %[[B:.+]] = %[[COUNT]]) : (tensor<?x1xbf16>, tensor<?x1xi64>) -> tensor<?x1xf32> {
// CHECK-NEXT:   %[[N:.+]] = arith.sitofp %[[B]] : i64 to f32
// CHECK-NEXT:   %[[S:.+]] = arith.divf %[[A]], %[[N]] : f32
// CHECK-NEXT:   fuseops.yield %[[S]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[DX:.+]] = fuseops.pointwise (%[[A:.+]] = %[[SHARE]], %[[B:.+]] = %[[TIES]]) : (tensor<?x1xf32>, tensor<?x8xi1>) -> tensor<?x8xbf16> {
// CHECK-NEXT:   %[[W:.+]] = arith.uitofp %[[B]] : i1 to f32
// CHECK-NEXT:   %[[D:.+]] = arith.mulf %[[A]], %[[W]] : f32
// CHECK-NEXT:   fuseops.yield %[[D]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.return %[[DX]] : tensor<?x8xbf16>
fuseops.fusible @maximum_of_columns(%x: tensor<?x8xbf16>) -> tensor<?x1xbf16>
forward {
  %y = fuseops.reduce_columns max %x : tensor<?x8xbf16> -> tensor<?x1xbf16>
  fuseops.return %y : tensor<?x1xbf16>
}

// A rounded result may equal none of the elements: it is computed again in
// their type, and not saved.
// CHECK-LABEL: fuseops.fusible @minimum_of_rows(
// CHECK: fuseops.return %{{.+}} save(%{{.+}}) : tensor<8xbf16>, tensor<?x8xf32>
// CHECK: backward (%[[DY:.+]]: tensor<8xbf16>, saved %[[X:.+]]: tensor<?x8xf32>) {
// CHECK-NEXT: %[[Y:.+]] = fuseops.reduce_rows min %[[X]] : tensor<?x8xf32> -> tensor<8xf32>
// CHECK-NEXT: %[[TIES:.+]] = fuseops.pointwise (%{{.+}} = %[[X]], %{{.+}} = %[[Y]])
// CHECK: fuseops.reduce_rows sum %[[TIES]] : tensor<?x8xi1> -> tensor<8xi64>
fuseops.fusible @minimum_of_rows(%x: tensor<?x8xf32>) -> tensor<8xbf16>
forward {
  %y = fuseops.reduce_rows min %x : tensor<?x8xf32> -> tensor<8xbf16>
  fuseops.return %y : tensor<8xbf16>
}

// Integers and bools have no gradient, and none comes through them.
// CHECK-LABEL: fuseops.fusible @integers(
// CHECK: fuseops.return %[[Y:.+]]#0, %[[Y]]#1, %{{.+}} save(%{{.+}}, %{{.+}}, %{{.+}}) : tensor<?x8xf32>, tensor<?x8xi64>, tensor<?x1xi1>, tensor<?x8xi64>, tensor<?x8xi64>, tensor<?x8xi1>
// CHECK: backward (%{{.+}}: tensor<?x8xf32>, saved %{{.+}}: tensor<?x8xi64>, saved %{{.+}}: tensor<?x8xi64>, saved %{{.+}}: tensor<?x8xi1>) {
// CHECK-NEXT: %[[DX:.+]] = fuseops.pointwise {{.+}} -> tensor<?x8xf32> {
// CHECK: fuseops.return %[[DX]], none, none : tensor<?x8xf32>
fuseops.fusible @integers(%x: tensor<?x8xf32>, %i: tensor<?x8xi64>, %m: tensor<?x8xi1>) -> (tensor<?x8xf32>, tensor<?x8xi64>, tensor<?x1xi1>)
forward {
  %n = fuseops.pointwise (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xi64> {
    %t = arith.fptosi %a : f32 to i64
    fuseops.yield %t : i64
  }
  %y, %s = fuseops.pointwise (%a = %x, %j = %i, %k = %n, %p = %m) : (tensor<?x8xf32>, tensor<?x8xi64>, tensor<?x8xi64>, tensor<?x8xi1>) -> (tensor<?x8xf32>, tensor<?x8xi64>) {
    %sum = arith.addi %j, %k : i64
    %f = arith.sitofp %sum : i64 to f32
    %r = arith.mulf %a, %f : f32
    %q = arith.select %p, %r, %a : f32
    fuseops.yield %q, %sum : f32, i64
  }
  %any = fuseops.reduce_columns max %m : tensor<?x8xi1> -> tensor<?x1xi1>
  fuseops.return %y, %s, %any : tensor<?x8xf32>, tensor<?x8xi64>, tensor<?x1xi1>
}
