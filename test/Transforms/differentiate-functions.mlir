// The symbolic derivative of the other functions of one operand.
// RUN: fuse-opt %s --fuseops-differentiate | FileCheck %s

// CHECK-LABEL: fuseops.fusible @tanh(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.tanh %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.tanh %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[V1]], %[[V1]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.subf %[[CST]], %[[V2]] : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.mulf %[[ARG3]], %[[V3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V4]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @tanh(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.tanh %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @sin(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.sin %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.cos %[[ARG2]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[ARG3]], %[[V1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V2]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @sin(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.sin %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @cos(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.cos %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.sin %[[ARG2]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.negf %[[V1]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[ARG3]], %[[V2]] : f32
// CHECK-NEXT:     fuseops.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @cos(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.cos %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @tan(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.tan %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.tan %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[V1]], %[[V1]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.addf %[[CST]], %[[V2]] : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.mulf %[[ARG3]], %[[V3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V4]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @tan(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.tan %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @sinh(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.sinh %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.cosh %[[ARG2]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[ARG3]], %[[V1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V2]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @sinh(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.sinh %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @cosh(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.cosh %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.sinh %[[ARG2]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[ARG3]], %[[V1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V2]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @cosh(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.cosh %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @asin(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.asin %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V1:.+]] = arith.mulf %[[ARG2]], %[[ARG2]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.subf %[[CST]], %[[V1]] : f32
// CHECK-NEXT:     %[[V3:.+]] = math.rsqrt %[[V2]] : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.mulf %[[ARG3]], %[[V3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V4]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @asin(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.asin %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @acos(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.acos %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V1:.+]] = arith.mulf %[[ARG2]], %[[ARG2]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.subf %[[CST]], %[[V1]] : f32
// CHECK-NEXT:     %[[V3:.+]] = math.rsqrt %[[V2]] : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.negf %[[V3]] : f32
// CHECK-NEXT:     %[[V5:.+]] = arith.mulf %[[ARG3]], %[[V4]] : f32
// CHECK-NEXT:     fuseops.yield %[[V5]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @acos(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.acos %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @atan(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.atan %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V1:.+]] = arith.mulf %[[ARG2]], %[[ARG2]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.addf %[[CST]], %[[V1]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.divf %[[CST0]], %[[V2]] : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.mulf %[[ARG3]], %[[V3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V4]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @atan(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.atan %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @asinh(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.asinh %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = arith.mulf %[[ARG2]], %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.addf %[[V1]], %[[CST]] : f32
// CHECK-NEXT:     %[[V3:.+]] = math.rsqrt %[[V2]] : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.mulf %[[ARG3]], %[[V3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V4]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @asinh(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.asinh %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @acosh(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.acosh %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = arith.mulf %[[ARG2]], %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.subf %[[V1]], %[[CST]] : f32
// CHECK-NEXT:     %[[V3:.+]] = math.rsqrt %[[V2]] : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.mulf %[[ARG3]], %[[V3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V4]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @acosh(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.acosh %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @atanh(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.atanh %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V1:.+]] = arith.mulf %[[ARG2]], %[[ARG2]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.subf %[[CST]], %[[V1]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.divf %[[CST0]], %[[V2]] : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.mulf %[[ARG3]], %[[V3]] : f32
// CHECK-NEXT:     fuseops.yield %[[V4]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @atanh(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.atanh %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @erf(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.erf %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.12837923 : f32
// CHECK-NEXT:     %[[V1:.+]] = math.absf %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 1.000000e+02 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.minimumf %[[V1]], %[[CST0]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[V2]], %[[V2]] : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.negf %[[V3]] : f32
// CHECK-NEXT:     %[[V5:.+]] = math.fma %[[V2]], %[[V2]], %[[V4]] : f32
// CHECK-NEXT:     %[[V6:.+]] = arith.negf %[[V3]] : f32
// CHECK-NEXT:     %[[V7:.+]] = math.exp %[[V6]] : f32
// CHECK-NEXT:     %[[V8:.+]] = arith.negf %[[V5]] : f32
// CHECK-NEXT:     %[[V9:.+]] = math.fma %[[V8]], %[[V7]], %[[V7]] : f32
// CHECK-NEXT:     %[[V10:.+]] = arith.mulf %[[CST]], %[[V9]] : f32
// CHECK-NEXT:     %[[V11:.+]] = arith.mulf %[[ARG3]], %[[V10]] : f32
// CHECK-NEXT:     fuseops.yield %[[V11]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @erf(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.erf %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @erfc(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.erfc %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant -1.12837923 : f32
// CHECK-NEXT:     %[[V1:.+]] = math.absf %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 1.000000e+02 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.minimumf %[[V1]], %[[CST0]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[V2]], %[[V2]] : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.negf %[[V3]] : f32
// CHECK-NEXT:     %[[V5:.+]] = math.fma %[[V2]], %[[V2]], %[[V4]] : f32
// CHECK-NEXT:     %[[V6:.+]] = arith.negf %[[V3]] : f32
// CHECK-NEXT:     %[[V7:.+]] = math.exp %[[V6]] : f32
// CHECK-NEXT:     %[[V8:.+]] = arith.negf %[[V5]] : f32
// CHECK-NEXT:     %[[V9:.+]] = math.fma %[[V8]], %[[V7]], %[[V7]] : f32
// CHECK-NEXT:     %[[V10:.+]] = arith.mulf %[[CST]], %[[V9]] : f32
// CHECK-NEXT:     %[[V11:.+]] = arith.mulf %[[ARG3]], %[[V10]] : f32
// CHECK-NEXT:     fuseops.yield %[[V11]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @erfc(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.erfc %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @absf(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.absf %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V1:.+]] = arith.cmpf olt, %[[ARG2]], %[[CST]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant -1.000000e+00 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.select %[[V1]], %[[CST0]], %[[CST]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.cmpf ogt, %[[ARG2]], %[[CST]] : f32
// CHECK-NEXT:     %[[CST1:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.select %[[V3]], %[[CST1]], %[[V2]] : f32
// CHECK-NEXT:     %[[V5:.+]] = arith.mulf %[[ARG3]], %[[V4]] : f32
// CHECK-NEXT:     fuseops.yield %[[V5]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @absf(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.absf %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @negf(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = arith.negf %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant -1.000000e+00 : f32
// CHECK-NEXT:     %[[V1:.+]] = arith.mulf %[[ARG1]], %[[CST]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @negf(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = arith.negf %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}
