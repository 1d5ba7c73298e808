// The symbolic derivative of scalar operations of several operands.
// RUN: fuse-opt %s --fuseops-differentiate | FileCheck %s

// CHECK-LABEL: fuseops.fusible @addf(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = arith.addf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
// CHECK-NEXT:     fuseops.yield %[[ARG1]], %[[ARG1]] : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]]#0, %[[V0]]#1 : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @addf(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x, %b = %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = arith.addf %a, %b : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @subf(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = arith.subf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
// CHECK-NEXT:     %[[V1:.+]] = arith.negf %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[ARG1]], %[[V1]] : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]]#0, %[[V0]]#1 : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @subf(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x, %b = %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = arith.subf %a, %b : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @mulf(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = arith.mulf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]], %[[ARG1]]) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>, saved %[[ARG2:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG1]], %[[ARG4:.+]] = %[[ARG2]], %[[ARG5:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
// CHECK-NEXT:     %[[V1:.+]] = arith.mulf %[[ARG5]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[ARG5]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]], %[[V2]] : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]]#0, %[[V0]]#1 : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @mulf(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x, %b = %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = arith.mulf %a, %b : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @divf(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = arith.divf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]], %[[ARG1]]) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>, saved %[[ARG2:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG1]], %[[ARG4:.+]] = %[[ARG2]], %[[ARG5:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
// CHECK-NEXT:     %[[V1:.+]] = arith.divf %[[ARG3]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.divf %[[ARG5]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.divf %[[V1]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.mulf %[[ARG5]], %[[V3]] : f32
// CHECK-NEXT:     %[[V5:.+]] = arith.negf %[[V4]] : f32
// CHECK-NEXT:     fuseops.yield %[[V2]], %[[V5]] : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]]#0, %[[V0]]#1 : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @divf(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x, %b = %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = arith.divf %a, %b : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @maximumf(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = arith.maximumf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]], %[[ARG1]]) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>, saved %[[ARG2:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG1]], %[[ARG4:.+]] = %[[ARG2]], %[[ARG5:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V1:.+]] = arith.cmpf oeq, %[[ARG3]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[CST0]], %[[ARG5]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.select %[[V1]], %[[V2]], %[[ARG5]] : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.cmpf olt, %[[ARG3]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[V5:.+]] = arith.select %[[V4]], %[[CST]], %[[V3]] : f32
// CHECK-NEXT:     %[[V6:.+]] = arith.cmpf olt, %[[ARG4]], %[[ARG3]] : f32
// CHECK-NEXT:     %[[V7:.+]] = arith.select %[[V6]], %[[CST]], %[[V3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V5]], %[[V7]] : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]]#0, %[[V0]]#1 : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @maximumf(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x, %b = %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = arith.maximumf %a, %b : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @maxnumf(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = arith.maxnumf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]], %[[ARG1]]) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>, saved %[[ARG2:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG1]], %[[ARG4:.+]] = %[[ARG2]], %[[ARG5:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V1:.+]] = arith.cmpf oge, %[[ARG3]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.cmpf uno, %[[ARG4]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.ori %[[V1]], %[[V2]] : i1
// CHECK-NEXT:     %[[V4:.+]] = arith.select %[[V3]], %[[ARG5]], %[[CST]] : f32
// CHECK-NEXT:     %[[V5:.+]] = arith.select %[[V3]], %[[CST]], %[[ARG5]] : f32
// CHECK-NEXT:     fuseops.yield %[[V4]], %[[V5]] : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]]#0, %[[V0]]#1 : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @maxnumf(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x, %b = %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = arith.maxnumf %a, %b : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @minimumf(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = arith.minimumf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]], %[[ARG1]]) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>, saved %[[ARG2:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG1]], %[[ARG4:.+]] = %[[ARG2]], %[[ARG5:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V1:.+]] = arith.cmpf oeq, %[[ARG3]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[CST0]], %[[ARG5]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.select %[[V1]], %[[V2]], %[[ARG5]] : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.cmpf ogt, %[[ARG3]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[V5:.+]] = arith.select %[[V4]], %[[CST]], %[[V3]] : f32
// CHECK-NEXT:     %[[V6:.+]] = arith.cmpf ogt, %[[ARG4]], %[[ARG3]] : f32
// CHECK-NEXT:     %[[V7:.+]] = arith.select %[[V6]], %[[CST]], %[[V3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V5]], %[[V7]] : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]]#0, %[[V0]]#1 : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @minimumf(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x, %b = %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = arith.minimumf %a, %b : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @minnumf(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = arith.minnumf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]], %[[ARG1]]) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>, saved %[[ARG2:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG1]], %[[ARG4:.+]] = %[[ARG2]], %[[ARG5:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V1:.+]] = arith.cmpf ole, %[[ARG3]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.cmpf uno, %[[ARG4]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.ori %[[V1]], %[[V2]] : i1
// CHECK-NEXT:     %[[V4:.+]] = arith.select %[[V3]], %[[ARG5]], %[[CST]] : f32
// CHECK-NEXT:     %[[V5:.+]] = arith.select %[[V3]], %[[CST]], %[[ARG5]] : f32
// CHECK-NEXT:     fuseops.yield %[[V4]], %[[V5]] : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]]#0, %[[V0]]#1 : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @minnumf(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x, %b = %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = arith.minnumf %a, %b : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @copysign(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.copysign %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]], %[[ARG1]]) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>, saved %[[ARG2:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG1]], %[[ARG4:.+]] = %[[ARG2]], %[[ARG5:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.copysign %[[ARG3]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.cmpf oeq, %[[ARG3]], %[[CST]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.divf %[[V1]], %[[ARG3]] : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.select %[[V2]], %[[CST]], %[[V3]] : f32
// CHECK-NEXT:     %[[V5:.+]] = arith.mulf %[[ARG5]], %[[V4]] : f32
// CHECK-NEXT:     fuseops.yield %[[V5]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]], none : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @copysign(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x, %b = %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.copysign %a, %b : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @powf(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.powf %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]], %[[ARG1]]) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>, saved %[[ARG2:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG1]], %[[ARG4:.+]] = %[[ARG2]], %[[ARG5:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
// CHECK-NEXT:     %[[V1:.+]] = math.powf %[[ARG3]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.subf %[[ARG4]], %[[CST]] : f32
// CHECK-NEXT:     %[[V3:.+]] = math.powf %[[ARG3]], %[[V2]] : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.mulf %[[ARG4]], %[[V3]] : f32
// CHECK-NEXT:     %[[V5:.+]] = arith.mulf %[[ARG5]], %[[V4]] : f32
// CHECK-NEXT:     %[[V6:.+]] = math.log %[[ARG3]] : f32
// CHECK-NEXT:     %[[V7:.+]] = arith.mulf %[[V1]], %[[V6]] : f32
// CHECK-NEXT:     %[[V8:.+]] = arith.mulf %[[ARG5]], %[[V7]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V9:.+]] = arith.cmpf oeq, %[[ARG3]], %[[CST0]] : f32
// CHECK-NEXT:     %[[V10:.+]] = arith.cmpf oge, %[[ARG4]], %[[CST0]] : f32
// CHECK-NEXT:     %[[V11:.+]] = arith.andi %[[V9]], %[[V10]] : i1
// CHECK-NEXT:     %[[V12:.+]] = arith.cmpf oeq, %[[ARG4]], %[[CST0]] : f32
// CHECK-NEXT:     %[[V13:.+]] = arith.select %[[V12]], %[[CST0]], %[[V5]] : f32
// CHECK-NEXT:     %[[V14:.+]] = arith.select %[[V11]], %[[CST0]], %[[V8]] : f32
// CHECK-NEXT:     fuseops.yield %[[V13]], %[[V14]] : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]]#0, %[[V0]]#1 : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @powf(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x, %b = %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.powf %a, %b : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @atan2(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.atan2 %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]], %[[ARG1]]) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>, saved %[[ARG2:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG1]], %[[ARG4:.+]] = %[[ARG2]], %[[ARG5:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
// CHECK-NEXT:     %[[V1:.+]] = arith.mulf %[[ARG3]], %[[ARG3]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[ARG4]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.addf %[[V1]], %[[V2]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.divf %[[CST]], %[[V3]] : f32
// CHECK-NEXT:     %[[V5:.+]] = arith.mulf %[[ARG5]], %[[V4]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V6:.+]] = arith.cmpf oeq, %[[V3]], %[[CST0]] : f32
// CHECK-NEXT:     %[[CST1:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V7:.+]] = arith.mulf %[[V5]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[V8:.+]] = arith.select %[[V6]], %[[CST1]], %[[V7]] : f32
// CHECK-NEXT:     %[[V9:.+]] = arith.mulf %[[V5]], %[[ARG3]] : f32
// CHECK-NEXT:     %[[CST2:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V10:.+]] = arith.negf %[[V9]] : f32
// CHECK-NEXT:     %[[V11:.+]] = arith.select %[[V6]], %[[CST2]], %[[V10]] : f32
// CHECK-NEXT:     fuseops.yield %[[V8]], %[[V11]] : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]]#0, %[[V0]]#1 : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @atan2(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x, %b = %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.atan2 %a, %b : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @fma(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>, %[[ARG2:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG0]], %[[ARG4:.+]] = %[[ARG1]], %[[ARG5:.+]] = %[[ARG2]]) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.fma %[[ARG3]], %[[ARG4]], %[[ARG5]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]], %[[ARG1]]) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>, saved %[[ARG2:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]]:3 = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG1]], %[[ARG4:.+]] = %[[ARG2]], %[[ARG5:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
// CHECK-NEXT:     %[[V1:.+]] = arith.mulf %[[ARG5]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[ARG5]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]], %[[V2]], %[[ARG5]] : f32, f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]]#0, %[[V0]]#1, %[[V0]]#2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @fma(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %w = fuseops.pointwise (%a = %x, %b = %y, %c = %z) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.fma %a, %b, %c : f32
    fuseops.yield %r : f32
  }
  fuseops.return %w : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @select(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = arith.cmpf olt, %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.select %[[V1]], %[[ARG2]], %[[ARG3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V2]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]], %[[ARG1]]) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>, saved %[[ARG2:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG1]], %[[ARG4:.+]] = %[[ARG2]], %[[ARG5:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
// CHECK-NEXT:     %[[V1:.+]] = arith.cmpf olt, %[[ARG3]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.select %[[V1]], %[[ARG5]], %[[CST]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.select %[[V1]], %[[CST]], %[[ARG5]] : f32
// CHECK-NEXT:     fuseops.yield %[[V2]], %[[V3]] : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]]#0, %[[V0]]#1 : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @select(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x, %b = %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %c = arith.cmpf olt, %a, %b : f32
    %r = arith.select %c, %a, %b : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}
