// bf16 in the order first ones of pairs, then second ones, are parts of words.
// RUN: fuse-opt %s --convert-fp8-to-llvm --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @split(
// CHECK-SAME:    %[[X:.+]]: vector<8xbf16>
// CHECK-DAG:     %[[SHIFT:.+]] = arith.constant dense<16> : vector<4xi32>
// CHECK-DAG:     %[[UPPER:.+]] = arith.constant dense<-65536> : vector<4xi32>
// CHECK-DAG:     %[[WORDS:.+]] = vector.bitcast %[[X]] : vector<8xbf16> to vector<4xi32>
// CHECK-DAG:     %[[FIRST:.+]] = arith.shli %[[WORDS]], %[[SHIFT]] : vector<4xi32>
// CHECK-DAG:     %[[SECOND:.+]] = arith.andi %[[WORDS]], %[[UPPER]] : vector<4xi32>
// CHECK:         %[[ALL:.+]] = vector.shuffle %[[FIRST]], %[[SECOND]] [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK-NEXT:    %[[Y:.+]] = arith.bitcast %[[ALL]] : vector<8xi32> to vector<8xf32>
// CHECK-NEXT:    return %[[Y]]
func.func @split(%x: vector<8xbf16>) -> vector<8xf32> {
  %pairs = vector.shuffle %x, %x [0, 2, 4, 6, 1, 3, 5, 7] : vector<8xbf16>, vector<8xbf16>
  %y = arith.extf %pairs : vector<8xbf16> to vector<8xf32>
  return %y : vector<8xf32>
}

// -----

// CHECK-LABEL: func.func @join(
// CHECK-NOT:     arith.{{truncf|extf}}
// CHECK:         %[[FIRST:.+]] = vector.shuffle %[[BITS:.+]], %[[BITS]] [0, 1, 2, 3]
// CHECK:         %[[SECOND:.+]] = vector.shuffle %[[BITS]], %[[BITS]] [4, 5, 6, 7]
// CHECK:         %[[LOWER:.+]] = arith.shrui %[[FIRST]], %{{.+}} : vector<4xi32>
// CHECK:         %[[WORDS:.+]] = arith.ori %[[LOWER]], %[[SECOND]] : vector<4xi32>
// CHECK:         %[[Y:.+]] = vector.bitcast %[[WORDS]] : vector<4xi32> to vector<8xbf16>
// CHECK-NEXT:    return %[[Y]]
func.func @join(%x: vector<8xf32>) -> vector<8xbf16> {
  %halves = arith.truncf %x : vector<8xf32> to vector<8xbf16>
  %y = vector.shuffle %halves, %halves [0, 4, 1, 5, 2, 6, 3, 7] : vector<8xbf16>, vector<8xbf16>
  return %y : vector<8xbf16>
}

// -----

// Another order is none of pairs.
// CHECK-LABEL: func.func @other_orders(
// CHECK-NOT:     vector.bitcast
// CHECK:         return
func.func @other_orders(%x: vector<4xbf16>, %y: vector<3xbf16>) -> (vector<4xf32>, vector<3xf32>, vector<4xbf16>) {
  %0 = vector.shuffle %x, %x [0, 2, 3, 1] : vector<4xbf16>, vector<4xbf16>
  %1 = arith.extf %0 : vector<4xbf16> to vector<4xf32>
  %2 = vector.shuffle %y, %y [0, 2, 1] : vector<3xbf16>, vector<3xbf16>
  %3 = arith.extf %2 : vector<3xbf16> to vector<3xf32>
  %4 = vector.shuffle %x, %x [0, 1, 2, 3] : vector<4xbf16>, vector<4xbf16>
  return %1, %3, %4 : vector<4xf32>, vector<3xf32>, vector<4xbf16>
}

// -----

// Elements of two vectors, elements of another type, or a wider result.
// CHECK-LABEL: func.func @other_vectors(
// CHECK-NOT:     vector.bitcast
// CHECK:         return
func.func @other_vectors(%x: vector<2xbf16>, %y: vector<4xf16>, %z: vector<4xbf16>) -> (vector<4xbf16>, vector<4xf16>, vector<4xf64>) {
  %0 = vector.shuffle %x, %x [0, 2, 1, 3] : vector<2xbf16>, vector<2xbf16>
  %1 = vector.shuffle %y, %y [0, 2, 1, 3] : vector<4xf16>, vector<4xf16>
  %2 = vector.shuffle %z, %z [0, 2, 3, 1] : vector<4xbf16>, vector<4xbf16>
  %3 = arith.extf %2 : vector<4xbf16> to vector<4xf64>
  return %0, %1, %3 : vector<4xbf16>, vector<4xf16>, vector<4xf64>
}
