// The symbolic derivative of exponentials, logarithms and roots.
// RUN: fuse-opt %s --fuseops-differentiate | FileCheck %s

// CHECK-LABEL: fuseops.fusible @exp(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.exp %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.exp %[[ARG2]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[ARG3]], %[[V1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V2]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @exp(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.exp %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @exp2(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.exp2 %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.exp2 %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 0.693147182 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[CST]], %[[V1]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[ARG3]], %[[V2]] : f32
// CHECK-NEXT:     fuseops.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @exp2(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.exp2 %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @expm1(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.expm1 %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.exp %[[ARG2]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[ARG3]], %[[V1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V2]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @expm1(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.expm1 %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @log(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.log %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V1:.+]] = arith.divf %[[CST]], %[[ARG2]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[ARG3]], %[[V1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V2]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @log(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.log %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @log2(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.log2 %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 0.693147182 : f32
// CHECK-NEXT:     %[[V1:.+]] = arith.mulf %[[CST]], %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.divf %[[CST0]], %[[V1]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[ARG3]], %[[V2]] : f32
// CHECK-NEXT:     fuseops.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @log2(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.log2 %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @log10(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.log10 %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 2.30258512 : f32
// CHECK-NEXT:     %[[V1:.+]] = arith.mulf %[[CST]], %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.divf %[[CST0]], %[[V1]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[ARG3]], %[[V2]] : f32
// CHECK-NEXT:     fuseops.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @log10(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.log10 %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @log1p(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.log1p %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V1:.+]] = arith.addf %[[CST]], %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.divf %[[CST0]], %[[V1]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[ARG3]], %[[V2]] : f32
// CHECK-NEXT:     fuseops.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @log1p(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.log1p %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @sqrt(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.sqrt %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.sqrt %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.divf %[[CST]], %[[V1]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[ARG3]], %[[V2]] : f32
// CHECK-NEXT:     fuseops.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @sqrt(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.sqrt %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @rsqrt(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.rsqrt %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.rsqrt %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant -5.000000e-01 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[V1]], %[[V1]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[V1]], %[[V2]] : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.mulf %[[CST]], %[[V3]] : f32
// CHECK-NEXT:     %[[V5:.+]] = arith.mulf %[[ARG3]], %[[V4]] : f32
// CHECK-NEXT:     fuseops.yield %[[V5]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @rsqrt(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.rsqrt %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @cbrt(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.cbrt %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.cbrt %[[ARG2]] : f32
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 3.000000e+00 : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[V1]], %[[V1]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[CST]], %[[V2]] : f32
// CHECK-NEXT:     %[[CST0:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.divf %[[CST0]], %[[V3]] : f32
// CHECK-NEXT:     %[[V5:.+]] = arith.mulf %[[ARG3]], %[[V4]] : f32
// CHECK-NEXT:     fuseops.yield %[[V5]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @cbrt(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.cbrt %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}
