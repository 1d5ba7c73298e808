// Every element type survives printing and parsing.
// RUN: fuse-opt %s | fuse-opt | FileCheck %s

// CHECK-LABEL: fuseops.fusible @every_type(
// CHECK-SAME: tensor<4xi1>, %{{.+}}: tensor<4xi8>, %{{.+}}: tensor<4xui8>, %{{.+}}: tensor<4xi16>, %{{.+}}: tensor<4xi32>, %{{.+}}: tensor<4xi64>) -> (tensor<4xi1>, tensor<4xi8>, tensor<4xui8>, tensor<4xi16>, tensor<4xi32>, tensor<4xi64>)
fuseops.fusible @every_type(%b: tensor<4xi1>, %c: tensor<4xi8>, %u: tensor<4xui8>, %s: tensor<4xi16>, %i: tensor<4xi32>, %l: tensor<4xi64>) -> (tensor<4xi1>, tensor<4xi8>, tensor<4xui8>, tensor<4xi16>, tensor<4xi32>, tensor<4xi64>)
forward {
  fuseops.return %b, %c, %u, %s, %i, %l : tensor<4xi1>, tensor<4xi8>, tensor<4xui8>, tensor<4xi16>, tensor<4xi32>, tensor<4xi64>
}

// A ui8 is the i8 of its bits in a body, an i1 an i1.
// CHECK-LABEL: fuseops.fusible @scalars(
// CHECK: fuseops.pointwise (%[[U:.+]] = %{{.+}}, %[[B:.+]] = %{{.+}}) : (tensor<?x4xui8>, tensor<4xi1>) -> (tensor<?x4xui8>, tensor<?x4xi64>) {
// CHECK-NEXT: %[[N:.+]] = arith.extui %[[U]] : i8 to i64
// CHECK-NEXT: %[[R:.+]] = arith.select %[[B]], %[[U]], %[[U]] : i8
// CHECK-NEXT: fuseops.yield %[[R]], %[[N]] : i8, i64
fuseops.fusible @scalars(%u: tensor<?x4xui8>, %b: tensor<4xi1>) -> (tensor<?x4xui8>, tensor<?x4xi64>)
forward {
  %y:2 = fuseops.pointwise (%v = %u, %p = %b) : (tensor<?x4xui8>, tensor<4xi1>) -> (tensor<?x4xui8>, tensor<?x4xi64>) {
    %n = arith.extui %v : i8 to i64
    %r = arith.select %p, %v, %v : i8
    fuseops.yield %r, %n : i8, i64
  }
  fuseops.return %y#0, %y#1 : tensor<?x4xui8>, tensor<?x4xi64>
}

// CHECK-LABEL: fuseops.fusible @reductions(
// CHECK: fuseops.reduce_columns sum %{{.+}} : tensor<?x8xi1> -> tensor<?x1xi64>
// CHECK-NEXT: fuseops.reduce_columns max %{{.+}} : tensor<?x8xi1> -> tensor<?x1xi1>
// CHECK-NEXT: fuseops.reduce_rows min %{{.+}} : tensor<?x8xi1> -> tensor<8xi1>
fuseops.fusible @reductions(%x: tensor<?x8xi1>) -> (tensor<?x1xi64>, tensor<?x1xi1>, tensor<8xi1>)
forward {
  %count = fuseops.reduce_columns sum %x : tensor<?x8xi1> -> tensor<?x1xi64>
  %any = fuseops.reduce_columns max %x : tensor<?x8xi1> -> tensor<?x1xi1>
  %all = fuseops.reduce_rows min %x : tensor<?x8xi1> -> tensor<8xi1>
  fuseops.return %count, %any, %all : tensor<?x1xi64>, tensor<?x1xi1>, tensor<8xi1>
}

// CHECK-LABEL: fuseops.fusible @sum_of_nothing(
// CHECK: fuseops.reduce_columns sum %{{.+}} : tensor<4x0xi8> -> tensor<4x1xi64>
fuseops.fusible @sum_of_nothing(%x: tensor<4x0xi8>) -> tensor<4x1xi64>
forward {
  %y = fuseops.reduce_columns sum %x : tensor<4x0xi8> -> tensor<4x1xi64>
  fuseops.return %y : tensor<4x1xi64>
}
