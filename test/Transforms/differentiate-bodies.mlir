// The symbolic derivative of whole pointwise bodies.
// RUN: fuse-opt %s --fuseops-differentiate | FileCheck %s

// Rounding functions and conversions from integers have derivative 0.
// CHECK-LABEL: fuseops.fusible @floor(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.floor %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   fuseops.return none
// CHECK-NEXT: }
fuseops.fusible @floor(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.floor %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @ceil(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.ceil %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   fuseops.return none
// CHECK-NEXT: }
fuseops.fusible @ceil(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.ceil %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @round(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.round %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   fuseops.return none
// CHECK-NEXT: }
fuseops.fusible @round(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.round %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @roundeven(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.roundeven %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   fuseops.return none
// CHECK-NEXT: }
fuseops.fusible @roundeven(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.roundeven %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @trunc(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.trunc %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   fuseops.return none
// CHECK-NEXT: }
fuseops.fusible @trunc(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = math.trunc %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @from_integers(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:     %[[V1:.+]] = arith.fptosi %[[ARG1]] : f32 to i32
// CHECK-NEXT:     %[[V2:.+]] = arith.fptoui %[[ARG1]] : f32 to i32
// CHECK-NEXT:     %[[V3:.+]] = arith.sitofp %[[V1]] : i32 to f32
// CHECK-NEXT:     %[[V4:.+]] = arith.uitofp %[[V2]] : i32 to f32
// CHECK-NEXT:     %[[V5:.+]] = arith.addf %[[V3]], %[[V4]] : f32
// CHECK-NEXT:     %[[V6:.+]] = arith.mulf %[[V5]], %[[CST]] : f32
// CHECK-NEXT:     fuseops.yield %[[V6]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   fuseops.return none
// CHECK-NEXT: }
fuseops.fusible @from_integers(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %c = arith.constant 2.0 : f32
    %i = arith.fptosi %a : f32 to i32
    %j = arith.fptoui %a : f32 to i32
    %f = arith.sitofp %i : i32 to f32
    %g = arith.uitofp %j : i32 to f32
    %h = arith.addf %f, %g : f32
    %r = arith.mulf %h, %c : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// A rounding in the body: its gradient is not rounded.
// CHECK-LABEL: fuseops.fusible @rounding(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = arith.truncf %[[ARG1]] : f32 to bf16
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[V1]], %[[V1]] : bf16
// CHECK-NEXT:     %[[V3:.+]] = arith.extf %[[V2]] : bf16 to f32
// CHECK-NEXT:     fuseops.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = arith.truncf %[[ARG2]] : f32 to bf16
// CHECK-NEXT:     %[[V2:.+]] = arith.extf %[[V1]] : bf16 to f32
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[ARG3]], %[[V2]] : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.mulf %[[ARG3]], %[[V2]] : f32
// CHECK-NEXT:     %[[V5:.+]] = arith.addf %[[V3]], %[[V4]] : f32
// CHECK-NEXT:     fuseops.yield %[[V5]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @rounding(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %h = arith.truncf %a : f32 to bf16
    %s = arith.mulf %h, %h : bf16
    %r = arith.extf %s : bf16 to f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// Two uses: their adjoints are added.
// CHECK-LABEL: fuseops.fusible @used_twice(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.exp %[[ARG1]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[V1]], %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V2]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.exp %[[ARG2]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[ARG3]], %[[ARG2]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[ARG3]], %[[V1]] : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.mulf %[[V2]], %[[V1]] : f32
// CHECK-NEXT:     %[[V5:.+]] = arith.addf %[[V3]], %[[V4]] : f32
// CHECK-NEXT:     fuseops.yield %[[V5]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @used_twice(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %e = math.exp %a : f32
    %r = arith.mulf %e, %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// A value that no result depends on adds nothing.
// CHECK-LABEL: fuseops.fusible @unused(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.exp %[[ARG1]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.negf %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V2]] : f32
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
fuseops.fusible @unused(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %e = math.exp %a : f32
    %r = arith.negf %a : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// No gradient of an integer operand, nor of a frozen one.
// CHECK-LABEL: fuseops.fusible @integer_and_frozen(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x8xi32>, %[[ARG2:.+]]: tensor<4x8xf32> {fuseops.frozen}) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG0]], %[[ARG4:.+]] = %[[ARG1]], %[[ARG5:.+]] = %[[ARG2]]) : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = arith.sitofp %[[ARG4]] : i32 to f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[ARG3]], %[[V1]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[V2]], %[[ARG5]] : f32
// CHECK-NEXT:     fuseops.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG1]], %[[ARG2]]) : tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xi32>, saved %[[ARG2:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG1]], %[[ARG4:.+]] = %[[ARG2]], %[[ARG5:.+]] = %[[ARG0]]) : (tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = arith.sitofp %[[ARG3]] : i32 to f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[ARG5]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[V2]], %[[V1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]], none, none : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @integer_and_frozen(%x: tensor<4x8xf32>, %i: tensor<4x8xi32>, %y: tensor<4x8xf32> {fuseops.frozen}) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x, %b = %i, %c = %y) : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
    %f = arith.sitofp %b : i32 to f32
    %t = arith.mulf %a, %f : f32
    %r = arith.mulf %t, %c : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}

// Broadcast operands: the gradient stays wide until it is reduced.
// CHECK-LABEL: fuseops.fusible @broadcast(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<8xbf16>, %[[ARG2:.+]]: tensor<?x1xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG0]], %[[ARG4:.+]] = %[[ARG1]], %[[ARG5:.+]] = %[[ARG2]]) : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<?x1xbf16>) -> tensor<?x8xbf16> {
// CHECK-NEXT:     %[[V1:.+]] = arith.mulf %[[ARG3]], %[[ARG4]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[V1]], %[[ARG5]] : f32
// CHECK-NEXT:     fuseops.yield %[[V2]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]], %[[ARG1]], %[[ARG2]]) : tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<8xbf16>, tensor<?x1xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xbf16>, saved %[[ARG1:.+]]: tensor<?x8xbf16>, saved %[[ARG2:.+]]: tensor<8xbf16>, saved %[[ARG3:.+]]: tensor<?x1xbf16>) {
// CHECK-NEXT:   %[[V0:.+]]:3 = fuseops.pointwise (%[[ARG4:.+]] = %[[ARG1]], %[[ARG5:.+]] = %[[ARG2]], %[[ARG6:.+]] = %[[ARG3]], %[[ARG7:.+]] = %[[ARG0]]) : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<?x1xbf16>, tensor<?x8xbf16>) -> (tensor<?x8xbf16>, tensor<?x8xf32>, tensor<?x8xf32>) {
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[ARG4]], %[[ARG5]] : f32
// CHECK-NEXT:     %[[V4:.+]] = arith.mulf %[[ARG7]], %[[ARG6]] : f32
// CHECK-NEXT:     %[[V5:.+]] = arith.mulf %[[ARG7]], %[[V3]] : f32
// CHECK-NEXT:     %[[V6:.+]] = arith.mulf %[[V4]], %[[ARG5]] : f32
// CHECK-NEXT:     %[[V7:.+]] = arith.mulf %[[V4]], %[[ARG4]] : f32
// CHECK-NEXT:     fuseops.yield %[[V6]], %[[V7]], %[[V5]] : f32, f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reduce_rows sum %[[V0]]#1 : tensor<?x8xf32> -> tensor<8xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.reduce_columns sum %[[V0]]#2 : tensor<?x8xf32> -> tensor<?x1xbf16>
// CHECK-NEXT:   fuseops.return %[[V0]]#0, %[[V1]], %[[V2]] : tensor<?x8xbf16>, tensor<8xbf16>, tensor<?x1xbf16>
// CHECK-NEXT: }
fuseops.fusible @broadcast(%x: tensor<?x8xbf16>, %y: tensor<8xbf16>, %s: tensor<?x1xbf16>) -> tensor<?x8xbf16>
forward {
  %z = fuseops.pointwise (%a = %x, %b = %y, %c = %s) : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<?x1xbf16>) -> tensor<?x8xbf16> {
    %t = arith.mulf %a, %b : f32
    %r = arith.mulf %t, %c : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<?x8xbf16>
}

// The result that nothing uses has no adjoint.
// CHECK-LABEL: fuseops.fusible @two_results(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
// CHECK-NEXT:     %[[V1:.+]] = math.exp %[[ARG1]] : f32
// CHECK-NEXT:     %[[V2:.+]] = math.sin %[[ARG1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V1]], %[[V2]] : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]]#0 save(%[[ARG0]]) : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = math.exp %[[ARG2]] : f32
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[ARG3]], %[[V1]] : f32
// CHECK-NEXT:     fuseops.yield %[[V2]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @two_results(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y:2 = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
    %e = math.exp %a : f32
    %s = math.sin %a : f32
    fuseops.yield %e, %s : f32, f32
  }
  fuseops.return %y#0 : tensor<4x8xf32>
}

// f64 stays f64.
// CHECK-LABEL: fuseops.fusible @double(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf64>) -> tensor<4x8xf64>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf64>) -> tensor<4x8xf64> {
// CHECK-NEXT:     %[[V1:.+]] = arith.mulf %[[ARG1]], %[[ARG1]] : f64
// CHECK-NEXT:     fuseops.yield %[[V1]] : f64
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] save(%[[ARG0]]) : tensor<4x8xf64>, tensor<4x8xf64>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf64>, saved %[[ARG1:.+]]: tensor<4x8xf64>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG1]], %[[ARG3:.+]] = %[[ARG0]]) : (tensor<4x8xf64>, tensor<4x8xf64>) -> tensor<4x8xf64> {
// CHECK-NEXT:     %[[V1:.+]] = arith.mulf %[[ARG3]], %[[ARG2]] : f64
// CHECK-NEXT:     %[[V2:.+]] = arith.mulf %[[ARG3]], %[[ARG2]] : f64
// CHECK-NEXT:     %[[V3:.+]] = arith.addf %[[V1]], %[[V2]] : f64
// CHECK-NEXT:     fuseops.yield %[[V3]] : f64
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf64>
// CHECK-NEXT: }
fuseops.fusible @double(%x: tensor<4x8xf64>) -> tensor<4x8xf64>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf64>) -> tensor<4x8xf64> {
    %r = arith.mulf %a, %a : f64
    fuseops.yield %r : f64
  }
  fuseops.return %z : tensor<4x8xf64>
}

// The index that random operations hash is the same in backward.
// CHECK-LABEL: fuseops.fusible @linear_index(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = fuseops.linear_index : i64
// CHECK-NEXT:     %[[V2:.+]] = arith.sitofp %[[V1]] : i64 to f32
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[ARG1]], %[[V2]] : f32
// CHECK-NEXT:     fuseops.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:     %[[V1:.+]] = fuseops.linear_index : i64
// CHECK-NEXT:     %[[V2:.+]] = arith.sitofp %[[V1]] : i64 to f32
// CHECK-NEXT:     %[[V3:.+]] = arith.mulf %[[ARG1]], %[[V2]] : f32
// CHECK-NEXT:     fuseops.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @linear_index(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %z = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %i = fuseops.linear_index : i64
    %f = arith.sitofp %i : i64 to f32
    %r = arith.mulf %a, %f : f32
    fuseops.yield %r : f32
  }
  fuseops.return %z : tensor<4x8xf32>
}
