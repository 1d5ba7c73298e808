// RUN: fuse-opt %s --convert-fp8-to-nvvm --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @pair(
// CHECK-SAME:    %[[X:.+]]: vector<2xf32>
// CHECK-NEXT:    %[[E:.+]]:2 = vector.to_elements %[[X]]
// CHECK-NEXT:    %[[P:.+]] = nvvm.convert.f32x2.to.f8x2 %[[E]]#1, %[[E]]#0
// CHECK-SAME:      i16(f8E4M3FN)
// CHECK-NEXT:    %[[V:.+]] = vector.from_elements %[[P]] : vector<1xi16>
// CHECK-NEXT:    %[[B:.+]] = vector.bitcast %[[V]] : vector<1xi16> to vector<2xi8>
// CHECK-NEXT:    arith.bitcast %[[B]] : vector<2xi8> to vector<2xf8E4M3FN>
func.func @pair(%x: vector<2xf32>) -> vector<2xf8E4M3FN> {
  %q = arith.truncf %x : vector<2xf32> to vector<2xf8E4M3FN>
  return %q : vector<2xf8E4M3FN>
}

// -----

// CHECK-LABEL: func.func @odd_count_gets_a_zero(
// CHECK-DAG:     %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK:         %[[E:.+]]:3 = vector.to_elements
// CHECK:         nvvm.convert.f32x2.to.f8x2 %[[E]]#1, %[[E]]#0
// CHECK:         nvvm.convert.f32x2.to.f8x2 %[[ZERO]], %[[E]]#2
// CHECK:         vector.extract_strided_slice %{{.+}} : vector<4xi8> to vector<3xi8>
func.func @odd_count_gets_a_zero(%x: vector<3xbf16>) -> vector<3xf8E5M2> {
  %q = arith.truncf %x : vector<3xbf16> to vector<3xf8E5M2>
  return %q : vector<3xf8E5M2>
}

// -----

// CHECK-LABEL: func.func @scalars(
// CHECK:         nvvm.convert.f32x2.to.f8x2
// CHECK:         nvvm.convert.f8x2.to.f16x2
// CHECK:         arith.extf %{{.+}} : f16 to f32
func.func @scalars(%x: f32, %q: f8E5M2) -> (f8E4M3FN, f32) {
  %a = arith.truncf %x : f32 to f8E4M3FN
  %b = arith.extf %q : f8E5M2 to f32
  return %a, %b : f8E4M3FN, f32
}

// -----

// CHECK-LABEL: func.func @from_fp8(
// CHECK:         vector.bitcast %{{.+}} : vector<4xi8> to vector<2xi16>
// CHECK-COUNT-2: nvvm.convert.f8x2.to.f16x2 %{{.+}} : vector<2xi8>
// CHECK-NOT:     nvvm.convert
// CHECK:         arith.extf %{{.+}} : vector<4xf16> to vector<4xf32>
func.func @from_fp8(%q: vector<4xf8E4M3FN>) -> vector<4xf32> {
  %x = arith.extf %q : vector<4xf8E4M3FN> to vector<4xf32>
  return %x : vector<4xf32>
}

// -----

// The instruction takes f32: f64 is rounded to odd first.
// CHECK-LABEL: func.func @f64_rounds_once(
// CHECK:         arith.cmpf one
// CHECK:         nvvm.convert.f32x2.to.f8x2
func.func @f64_rounds_once(%x: f64) -> f8E4M3FN {
  %q = arith.truncf %x : f64 to f8E4M3FN
  return %q : f8E4M3FN
}

// -----

// No instruction before sm_100: integer arithmetic.
// CHECK-LABEL: func.func @scale_of_mx(
// CHECK-NOT:     nvvm
// CHECK:         arith.bitcast %{{.+}} : i8 to f8E8M0FNU
func.func @scale_of_mx(%x: f32) -> f8E8M0FNU {
  %q = arith.truncf %x : f32 to f8E8M0FNU
  return %q : f8E8M0FNU
}

// -----

// The instruction saturates: clamps to all finite values are nothing of their own,
// on either side and twice.
// CHECK-LABEL: func.func @clamped_twice(
// CHECK-SAME:    %[[X:.+]]: vector<2xf32>
// CHECK-NEXT:    %[[E:.+]]:2 = vector.to_elements %[[X]]
// CHECK-NEXT:    nvvm.convert.f32x2.to.f8x2 %[[E]]#1, %[[E]]#0
func.func @clamped_twice(%x: vector<2xf32>) -> vector<2xf8E4M3FN> {
  %low = arith.constant dense<-448.0> : vector<2xf32>
  %bound = arith.constant 448.0 : f32
  %high = vector.broadcast %bound : f32 to vector<2xf32>
  %a = arith.maximumf %x, %low : vector<2xf32>
  %b = arith.minimumf %a, %high : vector<2xf32>
  %c = arith.maximumf %b, %low : vector<2xf32>
  %d = arith.minimumf %c, %high : vector<2xf32>
  %q = arith.truncf %d : vector<2xf32> to vector<2xf8E4M3FN>
  return %q : vector<2xf8E4M3FN>
}

// -----

// What a clamp changes stays: 448 is not the largest number of f8E5M2, and 57344 is.
// CHECK-LABEL: func.func @clamped_to_less(
// CHECK-SAME:    %[[X:.+]]: f32
// CHECK:         %[[A:.+]] = arith.minimumf %[[X]], %{{.+}} : f32
// CHECK:         nvvm.convert.f32x2.to.f8x2 %{{.+}}, %[[A]]
func.func @clamped_to_less(%x: f32) -> f8E5M2 {
  %less = arith.constant 448.0 : f32
  %largest = arith.constant 57344.0 : f32
  %a = arith.minimumf %x, %less : f32
  %b = arith.minimumf %a, %largest : f32
  %q = arith.truncf %b : f32 to f8E5M2
  return %q : f8E5M2
}

// -----

// A maximum with a number that is no lower bound stays as well.
// CHECK-LABEL: func.func @maximum_of_448(
// CHECK:         %[[A:.+]] = arith.maximumf
// CHECK:         nvvm.convert.f32x2.to.f8x2 %{{.+}}, %[[A]]
func.func @maximum_of_448(%x: f32) -> f8E4M3FN {
  %c = arith.constant 448.0 : f32
  %a = arith.maximumf %x, %c : f32
  %q = arith.truncf %a : f32 to f8E4M3FN
  return %q : f8E4M3FN
}

// -----

// Bytes of two rows, gathered column by column: what is converted together are the
// two of a column, so that no byte moves.
// CHECK-LABEL: func.func @gathered(
// CHECK-SAME:    %[[X:.+]]: vector<2xf32>, %[[Y:.+]]: vector<2xf32>
// CHECK-DAG:     %[[A:.+]]:2 = vector.to_elements %[[X]]
// CHECK-DAG:     %[[B:.+]]:2 = vector.to_elements %[[Y]]
// CHECK:         %[[FIRST:.+]] = nvvm.convert.f32x2.to.f8x2 %[[B]]#0, %[[A]]#0
// CHECK:         %[[V:.+]] = vector.from_elements %[[FIRST]] : vector<1xi16>
// CHECK:         %[[COLUMN:.+]] = vector.bitcast %[[V]] : vector<1xi16> to vector<2xi8>
// CHECK:         %[[SECOND:.+]] = nvvm.convert.f32x2.to.f8x2 %[[B]]#1, %[[A]]#1
// CHECK-NOT:     vector.extract
// CHECK:         return %[[COLUMN]], %
func.func @gathered(%x: vector<2xf32>, %y: vector<2xf32>) -> (vector<2xi8>, vector<2xi8>) {
  %p = arith.truncf %x : vector<2xf32> to vector<2xf8E4M3FN>
  %q = arith.truncf %y : vector<2xf32> to vector<2xf8E4M3FN>
  %a = arith.bitcast %p : vector<2xf8E4M3FN> to vector<2xi8>
  %b = arith.bitcast %q : vector<2xf8E4M3FN> to vector<2xi8>
  %a0 = vector.extract %a[0] : i8 from vector<2xi8>
  %b0 = vector.extract %b[0] : i8 from vector<2xi8>
  %a1 = vector.extract %a[1] : i8 from vector<2xi8>
  %b1 = vector.extract %b[1] : i8 from vector<2xi8>
  %first = vector.from_elements %a0, %b0 : vector<2xi8>
  %second = vector.from_elements %a1, %b1 : vector<2xi8>
  return %first, %second : vector<2xi8>, vector<2xi8>
}

// -----

// Not where a row is wanted too, of which the bytes are there then, nor of two
// formats, nor where a byte is something else.
// CHECK-LABEL: func.func @gathered_beside_rows(
// CHECK-COUNT-2: nvvm.convert
// CHECK-NOT:     nvvm.convert
// CHECK:         return
func.func @gathered_beside_rows(%x: vector<2xf32>, %y: vector<2xf32>) -> (vector<2xi8>, vector<2xi8>) {
  %p = arith.truncf %x : vector<2xf32> to vector<2xf8E4M3FN>
  %q = arith.truncf %y : vector<2xf32> to vector<2xf8E4M3FN>
  %a = arith.bitcast %p : vector<2xf8E4M3FN> to vector<2xi8>
  %b = arith.bitcast %q : vector<2xf8E4M3FN> to vector<2xi8>
  %a0 = vector.extract %a[0] : i8 from vector<2xi8>
  %b0 = vector.extract %b[0] : i8 from vector<2xi8>
  %first = vector.from_elements %a0, %b0 : vector<2xi8>
  return %first, %a : vector<2xi8>, vector<2xi8>
}

// -----

// CHECK-LABEL: func.func @gathered_of_two_formats(
// CHECK-COUNT-2: nvvm.convert
// CHECK-NOT:     nvvm.convert
// CHECK:         return
func.func @gathered_of_two_formats(%x: vector<2xf32>, %y: vector<2xf32>) -> vector<2xi8> {
  %p = arith.truncf %x : vector<2xf32> to vector<2xf8E4M3FN>
  %q = arith.truncf %y : vector<2xf32> to vector<2xf8E5M2>
  %a = arith.bitcast %p : vector<2xf8E4M3FN> to vector<2xi8>
  %b = arith.bitcast %q : vector<2xf8E5M2> to vector<2xi8>
  %a0 = vector.extract %a[0] : i8 from vector<2xi8>
  %b0 = vector.extract %b[0] : i8 from vector<2xi8>
  %first = vector.from_elements %a0, %b0 : vector<2xi8>
  return %first : vector<2xi8>
}

// -----

// CHECK-LABEL: func.func @gathered_beside_a_byte(
// CHECK:         nvvm.convert
// CHECK-NOT:     nvvm.convert
// CHECK:         return
func.func @gathered_beside_a_byte(%x: vector<2xf32>, %y: i8) -> vector<2xi8> {
  %p = arith.truncf %x : vector<2xf32> to vector<2xf8E4M3FN>
  %a = arith.bitcast %p : vector<2xf8E4M3FN> to vector<2xi8>
  %a0 = vector.extract %a[0] : i8 from vector<2xi8>
  %first = vector.from_elements %a0, %y : vector<2xi8>
  return %first : vector<2xi8>
}
