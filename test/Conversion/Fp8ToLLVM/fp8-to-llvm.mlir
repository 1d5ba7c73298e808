// RUN: fuse-opt %s --convert-fp8-to-llvm --split-input-file | FileCheck %s --check-prefixes=CHECK,NATIVE
// RUN: fuse-opt %s --convert-fp8-to-llvm=expand-half --split-input-file | FileCheck %s --check-prefixes=CHECK,EXPAND

// CHECK-LABEL: func.func @to_e4m3(
// CHECK-SAME:    %[[X:.+]]: vector<8xf32>
// CHECK-NOT:     arith.truncf
// CHECK:         %[[BITS:.+]] = arith.bitcast %[[X]] : vector<8xf32> to vector<8xi32>
// CHECK:         arith.minui
// CHECK:         %[[CODE:.+]] = arith.trunci %{{.+}} : vector<8xi32> to vector<8xi8>
// CHECK-NEXT:    %[[Q:.+]] = arith.bitcast %[[CODE]] : vector<8xi8> to vector<8xf8E4M3FN>
// CHECK-NEXT:    return %[[Q]]
func.func @to_e4m3(%x: vector<8xf32>) -> vector<8xf8E4M3FN> {
  %q = arith.truncf %x : vector<8xf32> to vector<8xf8E4M3FN>
  return %q : vector<8xf8E4M3FN>
}

// -----

// f64 is rounded to odd on its way: the last bit says that something was cut.
// CHECK-LABEL: func.func @f64_rounds_once(
// CHECK-SAME:    %[[X:.+]]: f64
// CHECK:         %[[NEAREST:.+]] = arith.truncf %[[X]] : f64 to f32
// CHECK:         %[[BACK:.+]] = arith.extf %[[NEAREST]] : f32 to f64
// CHECK:         arith.cmpf one, %[[BACK]], %[[X]] : f64
// CHECK-NOT:     arith.truncf
// CHECK:         arith.bitcast %{{.+}} : i8 to f8E5M2
func.func @f64_rounds_once(%x: f64) -> f8E5M2 {
  %q = arith.truncf %x : f64 to f8E5M2
  return %q : f8E5M2
}

// -----

// CHECK-LABEL: func.func @from_e5m2(
// CHECK-NOT:     arith.extf
// CHECK:         arith.bitcast %{{.+}} : vector<3xf8E5M2> to vector<3xi8>
// CHECK-NEXT:    arith.extui %{{.+}} : vector<3xi8> to vector<3xi32>
// CHECK:         return
func.func @from_e5m2(%q: vector<3xf8E5M2>) -> vector<3xf32> {
  %x = arith.extf %q : vector<3xf8E5M2> to vector<3xf32>
  return %x : vector<3xf32>
}

// -----

// CHECK-LABEL: func.func @scale_of_mx(
// CHECK-NOT:     arith.{{truncf|extf}}
// CHECK:         return
func.func @scale_of_mx(%x: f32) -> f32 {
  %q = arith.truncf %x : f32 to f8E8M0FNU
  %y = arith.extf %q : f8E8M0FNU to f32
  return %y : f32
}

// -----

// CHECK-LABEL: func.func @bf16_both_ways(
// CHECK-NOT:     arith.{{truncf|extf}}
// CHECK:         arith.bitcast %{{.+}} : vector<4xi16> to vector<4xbf16>
func.func @bf16_both_ways(%x: vector<4xbf16>) -> vector<4xbf16> {
  %w = arith.extf %x : vector<4xbf16> to vector<4xf32>
  %s = arith.addf %w, %w : vector<4xf32>
  %y = arith.truncf %s : vector<4xf32> to vector<4xbf16>
  return %y : vector<4xbf16>
}

// -----

// CHECK-LABEL: func.func @half(
// NATIVE-NEXT:   arith.extf
// NATIVE-NEXT:   arith.addf
// NATIVE-NEXT:   arith.truncf
// EXPAND-NOT:    arith.{{truncf|extf}}
// EXPAND:        return
func.func @half(%x: f16) -> f16 {
  %w = arith.extf %x : f16 to f32
  %s = arith.addf %w, %w : f32
  %y = arith.truncf %s : f32 to f16
  return %y : f16
}

// -----

// Refused: another rounding mode, and what is native.
// CHECK-LABEL: func.func @left_alone(
// CHECK-NEXT:    arith.truncf %{{.+}} toward_zero : f32 to f8E4M3FN
// CHECK-NEXT:    arith.truncf %{{.+}} : f64 to f32
func.func @left_alone(%x: f32, %y: f64) -> (f8E4M3FN, f32) {
  %q = arith.truncf %x toward_zero : f32 to f8E4M3FN
  %z = arith.truncf %y : f64 to f32
  return %q, %z : f8E4M3FN, f32
}
