// PyTorch's conventions at kinks and ties, by the names of the table in
// ScalarDerivatives.cpp. What the gradients are then is compared with PyTorch's
// in test/python/conformance/test_scalar_functions.py.
// RUN: fuse-opt %s --fuseops-differentiate | FileCheck %s

// CHECK-LABEL: fuseops.fusible @abs(
// CHECK:       backward
// CHECK:         %[[LT:.+]] = arith.cmpf olt, %[[X:.+]], %{{.+}} : f32
// CHECK:         %[[N:.+]] = arith.select %[[LT]], %{{.+}}, %{{.+}} : f32
// CHECK:         %[[GT:.+]] = arith.cmpf ogt, %[[X]], %{{.+}} : f32
// CHECK:         arith.select %[[GT]], %{{.+}}, %[[N]] : f32
// CHECK:         fuseops.yield
fuseops.fusible @abs(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %t = fuseops.pointwise (%xx = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.absf %xx : f32
    fuseops.yield %r : f32
  }
  fuseops.return %t : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @maximum(
// CHECK:       backward
// CHECK:         %[[TIE:.+]] = arith.cmpf oeq
// CHECK:         %[[HALF:.+]] = arith.mulf %{{.+}}, %[[G:.+]] : f32
// CHECK:         %[[SHARE:.+]] = arith.select %[[TIE]], %[[HALF]], %[[G]] : f32
// CHECK:         %[[LX:.+]] = arith.cmpf olt
// CHECK:         arith.select %[[LX]], %{{.+}}, %[[SHARE]] : f32
// CHECK:         %[[LY:.+]] = arith.cmpf olt
// CHECK:         arith.select %[[LY]], %{{.+}}, %[[SHARE]] : f32
// CHECK:         fuseops.yield
fuseops.fusible @maximum(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %t = fuseops.pointwise (%xx = %x, %yy = %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = arith.maximumf %xx, %yy : f32
    fuseops.yield %r : f32
  }
  fuseops.return %t : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @maxnum(
// CHECK:       backward
// CHECK:         %[[GE:.+]] = arith.cmpf oge, %{{.+}}, %[[Y:.+]] : f32
// CHECK:         %[[NAN:.+]] = arith.cmpf uno, %[[Y]], %[[Y]] : f32
// CHECK:         %[[FIRST:.+]] = arith.ori %[[GE]], %[[NAN]] : i1
// CHECK:         arith.select %[[FIRST]], %[[G:.+]], %[[ZERO:.+]] : f32
// CHECK:         arith.select %[[FIRST]], %[[ZERO]], %[[G]] : f32
// CHECK:         fuseops.yield
fuseops.fusible @maxnum(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %t = fuseops.pointwise (%xx = %x, %yy = %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = arith.maxnumf %xx, %yy : f32
    fuseops.yield %r : f32
  }
  fuseops.return %t : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @clampf(
// CHECK:       backward
// CHECK:         %[[GE:.+]] = arith.cmpf oge, %[[X:.+]], %[[L:.+]] : f32
// CHECK:         %[[LE:.+]] = arith.cmpf ole, %[[X]], %[[H:.+]] : f32
// CHECK:         %[[IN:.+]] = arith.andi %[[GE]], %[[LE]] : i1
// CHECK:         %[[LOW:.+]] = arith.andi
// CHECK:         %[[HIGH:.+]] = arith.ori
// CHECK:         arith.select %[[IN]], %[[G:.+]], %{{.+}} : f32
// CHECK:         arith.select %[[LOW]], %[[G]], %{{.+}} : f32
// CHECK:         arith.select %[[HIGH]], %[[G]], %{{.+}} : f32
// CHECK:         fuseops.yield
fuseops.fusible @clampf(%x: tensor<4x8xf32>, %l: tensor<4x8xf32>, %h: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %t = fuseops.pointwise (%xx = %x, %ll = %l, %hh = %h) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.clampf %xx to [%ll, %hh] : f32
    fuseops.yield %r : f32
  }
  fuseops.return %t : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @select(
// CHECK:       backward
// CHECK:         %[[P:.+]] = arith.cmpf ogt
// CHECK:         %[[E:.+]] = math.exp
// CHECK:         %[[TAKEN:.+]] = arith.select %[[P]], %[[G:.+]], %{{.+}} : f32
// CHECK:         %[[PART:.+]] = arith.mulf %[[G]], %[[E]] : f32
// CHECK:         %[[OTHER:.+]] = arith.select %[[P]], %{{.+}}, %[[PART]] : f32
// CHECK:         arith.addf %[[TAKEN]], %[[OTHER]] : f32
// CHECK:         fuseops.yield
fuseops.fusible @select(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %t = fuseops.pointwise (%xx = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %c = arith.constant 0.0 : f32
    %p = arith.cmpf ogt, %xx, %c : f32
    %q = math.exp %xx : f32
    %r = arith.select %p, %xx, %q : f32
    fuseops.yield %r : f32
  }
  fuseops.return %t : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @copysign(
// CHECK:       backward
// CHECK:         %[[Z:.+]] = arith.cmpf oeq
// CHECK:         %[[SLOPE:.+]] = arith.divf
// CHECK:         %[[D:.+]] = arith.select %[[Z]], %{{.+}}, %[[SLOPE]] : f32
// CHECK:         arith.mulf %{{.+}}, %[[D]] : f32
// CHECK:         fuseops.yield
fuseops.fusible @copysign(%x: tensor<4x8xf32>, %s: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %t = fuseops.pointwise (%xx = %x, %ss = %s) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.copysign %xx, %ss : f32
    fuseops.yield %r : f32
  }
  fuseops.return %t : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @powf(
// CHECK:       backward
// CHECK:         %[[LOG:.+]] = math.log
// CHECK:         %[[ZX:.+]] = arith.cmpf oeq, %[[X:.+]], %{{.+}} : f32
// CHECK:         %[[GE:.+]] = arith.cmpf oge, %[[Y:.+]], %{{.+}} : f32
// CHECK:         %[[FLAT:.+]] = arith.andi %[[ZX]], %[[GE]] : i1
// CHECK:         %[[ZY:.+]] = arith.cmpf oeq, %[[Y]], %{{.+}} : f32
// CHECK:         arith.select %[[ZY]]
// CHECK:         arith.select %[[FLAT]]
// CHECK:         fuseops.yield
fuseops.fusible @powf(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %t = fuseops.pointwise (%xx = %x, %yy = %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.powf %xx, %yy : f32
    fuseops.yield %r : f32
  }
  fuseops.return %t : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @remf(
// CHECK:       backward
// CHECK:         %[[R:.+]] = arith.remf %[[X:.+]], %[[Y:.+]] : f32
// CHECK-NEXT:    %[[M:.+]] = arith.subf %[[X]], %[[R]] : f32
// CHECK-NEXT:    %[[Q:.+]] = arith.divf %[[M]], %[[Y]] : f32
// CHECK-NEXT:    %[[E:.+]] = math.roundeven %[[Q]] : f32
// CHECK-NEXT:    %[[A:.+]] = arith.divf %[[X]], %[[Y]] : f32
// CHECK-NEXT:    %[[T:.+]] = math.trunc %[[A]] : f32
// CHECK-NEXT:    %[[I:.+]] = arith.cmpf oeq, %[[R]], %[[R]] : f32
// CHECK-NEXT:    %[[N:.+]] = arith.select %[[I]], %[[E]], %[[T]] : f32
// CHECK:         %[[P:.+]] = arith.mulf %[[G:.+]], %[[N]] : f32
// CHECK:         %[[D:.+]] = arith.negf %[[P]] : f32
// CHECK:         fuseops.yield %[[G]], %[[D]]
fuseops.fusible @remf(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %t = fuseops.pointwise (%xx = %x, %yy = %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = arith.remf %xx, %yy : f32
    fuseops.yield %r : f32
  }
  fuseops.return %t : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @atan2(
// CHECK:       backward
// CHECK:         %[[S:.+]] = arith.addf
// CHECK:         %[[Z:.+]] = arith.cmpf oeq, %[[S]], %{{.+}} : f32
// CHECK:         arith.select %[[Z]]
// CHECK:         arith.select %[[Z]]
// CHECK:         fuseops.yield
fuseops.fusible @atan2(%y: tensor<4x8xf32>, %x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %t = fuseops.pointwise (%yy = %y, %xx = %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.atan2 %yy, %xx : f32
    fuseops.yield %r : f32
  }
  fuseops.return %t : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @steps(
// CHECK:       backward (%[[G:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:    (%[[A:.+]] = %[[G]])
// CHECK-NEXT:      fuseops.yield %[[A]] : f32
fuseops.fusible @steps(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %t = fuseops.pointwise (%xx = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %f = math.floor %xx : f32
    %e = math.roundeven %xx : f32
    %g = arith.addf %f, %e : f32
    %r = arith.addf %g, %xx : f32
    fuseops.yield %r : f32
  }
  fuseops.return %t : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @sqrt(
// CHECK:       backward
// CHECK:         %[[Y:.+]] = math.sqrt
// CHECK:         %[[D:.+]] = arith.divf %{{.+}}, %[[Y]] : f32
// CHECK:         arith.mulf %{{.+}}, %[[D]] : f32
// CHECK:         fuseops.yield
fuseops.fusible @sqrt(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %t = fuseops.pointwise (%xx = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.sqrt %xx : f32
    fuseops.yield %r : f32
  }
  fuseops.return %t : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @sincos(
// CHECK:       backward
// CHECK:         math.sincos
// CHECK:         math.cos
// CHECK:         math.sin
// CHECK:         arith.negf
// CHECK:         fuseops.yield
fuseops.fusible @sincos(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %t = fuseops.pointwise (%xx = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %s, %c = math.sincos %xx : f32
    %r = arith.mulf %s, %c : f32
    fuseops.yield %r : f32
  }
  fuseops.return %t : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @fpowi(
// CHECK:       backward
// CHECK:         %[[M:.+]] = arith.subi
// CHECK:         math.fpowi %{{.+}}, %[[M]] : f32, i32
// CHECK:         fuseops.yield
fuseops.fusible @fpowi(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %t = fuseops.pointwise (%xx = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %n = arith.constant 3 : i32
    %r = math.fpowi %xx, %n : f32, i32
    fuseops.yield %r : f32
  }
  fuseops.return %t : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @special(
// CHECK:       backward
// CHECK:         %[[D:.+]] = fuseops.special polygamma(%{{.+}}) : f32
// CHECK:         arith.mulf %{{.+}}, %[[D]] : f32
// CHECK:         fuseops.yield
fuseops.fusible @special(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %t = fuseops.pointwise (%xx = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = fuseops.special lgamma(%xx) : f32
    fuseops.yield %r : f32
  }
  fuseops.return %t : tensor<4x8xf32>
}
