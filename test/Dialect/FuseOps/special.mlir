// RUN: fuse-opt %s | fuse-opt | FileCheck %s

// CHECK-LABEL: func.func @special(
// CHECK:         fuseops.special lgamma(%{{.+}}) : f32
// CHECK-NEXT:    fuseops.special polygamma(%{{.+}}) : f32
// CHECK-NEXT:    fuseops.special polygamma(%{{.+}}) order(2) : f32
// CHECK-NEXT:    fuseops.special xlogy(%{{.+}}, %{{.+}}) : f32
func.func @special(%x: f32) {
  %0 = fuseops.special lgamma(%x) : f32
  %1 = fuseops.special polygamma(%x) : f32
  %2 = fuseops.special polygamma(%x) order(2) : f32
  %3 = fuseops.special xlogy(%x, %x) : f32
  return
}
