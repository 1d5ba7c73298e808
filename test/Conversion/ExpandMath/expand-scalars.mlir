// What LLVM has no operation for, on every type and both targets.
// RUN: fuse-opt %s --fuseops-expand-math --split-input-file | FileCheck %s
// RUN: fuse-opt %s --fuseops-expand-math=target=nvvm --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @clamp_keeps_nan(
// CHECK-SAME:    %[[X:.+]]: f64, %[[LOW:.+]]: f64, %[[HIGH:.+]]: f64
// CHECK-NEXT:    %[[M:.+]] = arith.maximumf %[[X]], %[[LOW]] : f64
// CHECK-NEXT:    %[[Y:.+]] = arith.minimumf %[[M]], %[[HIGH]] : f64
// CHECK-NEXT:    return %[[Y]]
func.func @clamp_keeps_nan(%x: f64, %low: f64, %high: f64) -> f64 {
  %y = math.clampf %x to [%low, %high] : f64
  return %y : f64
}

// -----

// CHECK-LABEL: func.func @fpowi_in_f64(
// CHECK-SAME:    %[[X:.+]]: f32, %[[N:.+]]: i32
// CHECK-DAG:     %[[W:.+]] = arith.extf %[[X]] : f32 to f64
// CHECK-DAG:     %[[E:.+]] = arith.sitofp %[[N]] : i32 to f64
// CHECK:         %[[P:.+]] = math.powf %[[W]], %[[E]] : f64
// CHECK-NEXT:    %[[Y:.+]] = arith.truncf %[[P]] : f64 to f32
// CHECK-NEXT:    return %[[Y]]
func.func @fpowi_in_f64(%x: f32, %n: i32) -> f32 {
  %y = math.fpowi %x, %n : f32, i32
  return %y : f32
}

// -----

// CHECK-LABEL: func.func @ipowi_of_constant_exponent(
// CHECK-SAME:    %[[X:.+]]: i32
// CHECK:         %[[ONE:.+]] = llvm.freeze %[[X]] : i32
// CHECK:         %[[TWO:.+]] = arith.muli %[[ONE]], %[[ONE]] : i32
// CHECK:         %[[THREE:.+]] = arith.muli {{%.+, %.+}} : i32
// CHECK-NOT:     math.ipowi
// CHECK:         return
func.func @ipowi_of_constant_exponent(%x: i32) -> i32 {
  %n = arith.constant 3 : i32
  %y = math.ipowi %x, %n : i32
  return %y : i32
}

// -----

// CHECK-LABEL: func.func @isinf(
// CHECK:         math.absf
// CHECK:         arith.cmpf oeq
func.func @isinf(%x: f32) -> i1 {
  %y = math.isinf %x : f32
  return %y : i1
}

// -----

// By 0, and the lowest integer by -1, the divisor is 1; a quotient by 0 is 0.
// CHECK-LABEL: func.func @divisions_never_trap(
// CHECK-SAME:    %[[X:.+]]: i32, %[[Y:.+]]: i32
// CHECK:         %[[ZERO:.+]] = arith.cmpi eq, %[[Y]], %{{.+}} : i32
// CHECK:         %[[UNSAFE:.+]] = arith.ori %[[ZERO]], %{{.+}} : i1
// CHECK:         %[[SAFE:.+]] = arith.select %[[UNSAFE]], %{{.+}}, %[[Y]] : i32
// CHECK-NEXT:    %[[Q:.+]] = arith.divsi %[[X]], %[[SAFE]] : i32
// CHECK-NEXT:    %[[R:.+]] = arith.select %[[ZERO]], %{{.+}}, %[[Q]] : i32
// CHECK-NEXT:    return %[[R]]
func.func @divisions_never_trap(%x: i32, %y: i32) -> i32 {
  %q = arith.divsi %x, %y : i32
  return %q : i32
}

// -----

// Refused: a constant that can't trap, and a kernel's index arithmetic.
// CHECK-LABEL: func.func @no_guard(
// CHECK-NOT:     arith.cmpi
// CHECK:         return
func.func @no_guard(%x: i64, %i: index, %j: index) -> (i64, index) {
  %c = arith.constant 7 : i64
  %q = arith.remsi %x, %c : i64
  %r = arith.divui %i, %j : index
  return %q, %r : i64, index
}

// -----

// CHECK-LABEL: func.func @special_is_expanded(
// CHECK-NOT:     fuseops.special
// CHECK:         return
func.func @special_is_expanded(%x: vector<4xf32>, %y: f64) -> (vector<4xf32>, f64) {
  %0 = fuseops.special lgamma(%x) : vector<4xf32>
  %1 = fuseops.special xlogy(%y, %y) : f64
  return %0, %1 : vector<4xf32>, f64
}
