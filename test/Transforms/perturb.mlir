// RUN: fuse-opt %s --fuseops-perturb=seed=1 | FileCheck %s
// RUN: fuse-opt %s --fuseops-perturb=seed=2 | FileCheck %s --check-prefix=OTHER
// RUN: fuse-opt %s --fuseops-perturb="seed=1 magnitude=4" | FileCheck %s --check-prefix=LARGE
// RUN: fuse-opt %s --fuseops-perturb="seed=1 overflows=1" | FileCheck %s --check-prefix=RANGE
// RUN: fuse-opt %s --fuseops-perturb=seed=1 | fuse-compile - --entry=noise --target=reference -o %t

// Each scalar that rounds gets the noise of its type (2^-24 for f32, 8 times
// that for a function), and each result that of its own (2^-8 for bf16). A
// negation does not round, and integers keep their values. Equal values get
// equal noise.
// CHECK-LABEL: fuseops.fusible @noise(
// CHECK-SAME: %[[X:.+]]: tensor<?x64xbf16>)
// CHECK: %[[Y:.+]] = fuseops.pointwise (%[[E:.+]] = %[[X]]) : (tensor<?x64xbf16>) -> tensor<?x64xbf16> {
// CHECK-NEXT: %[[TANH:.+]] = math.tanh %[[E]] : f32
// CHECK-NEXT: %[[BITS:.+]] = arith.bitcast %[[TANH]] : f32 to i32
// CHECK-NEXT: %[[MULTIPLIER:.+]] = arith.constant 2135587861 : i32
// CHECK-NEXT: %[[PRODUCT:.+]] = arith.muli %[[BITS]], %[[MULTIPLIER]] : i32
// CHECK-NEXT: %[[SHIFT:.+]] = arith.constant 12 : i32
// CHECK-NEXT: %[[HASH:.+]] = arith.shrui %[[PRODUCT]], %[[SHIFT]] : i32
// CHECK-NEXT: %[[F:.+]] = arith.sitofp %[[HASH]] : i32 to f32
// CHECK-NEXT: %[[FREQUENCY:.+]] = arith.constant 1.13387668 : f32
// CHECK-NEXT: %[[START:.+]] = arith.constant 3.40922117 : f32
// CHECK-NEXT: %[[PHASE:.+]] = math.fma %[[F]], %[[FREQUENCY]], %[[START]] : f32
// CHECK-NEXT: %[[SIN:.+]] = math.sin %[[PHASE]] : f32
// CHECK-NEXT: %[[U:.+]] = arith.constant 4.76837158E-7 : f32
// CHECK-NEXT: %[[N:.+]] = arith.mulf %[[SIN]], %[[U]] : f32
// CHECK-NEXT: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[P:.+]] = arith.addf %[[ONE]], %[[N]] : f32
// CHECK-NEXT: %[[NOISY:.+]] = arith.mulf %[[TANH]], %[[P]] : f32
// CHECK-NEXT: %[[NEGATED:.+]] = arith.negf %[[NOISY]] : f32
// CHECK-NEXT: fuseops.yield %[[NEGATED]] : f32
// CHECK: %[[RESULT:.+]] = fuseops.pointwise (%{{.+}} = %[[Y]])
// CHECK: arith.constant 3.906250e-03 : f32
// CHECK: %[[MASK:.+]] = fuseops.pointwise (%{{.+}} = %[[RESULT]]) : (tensor<?x64xbf16>) -> tensor<?x64xi1> {
// CHECK-NEXT: arith.constant
// CHECK-NEXT: %[[IS:.+]] = arith.cmpf
// CHECK-NEXT: fuseops.yield %[[IS]] : i1
// CHECK: fuseops.return %[[RESULT]], %[[MASK]]

// OTHER-NOT: 1.13387668

// Noise of a larger magnitude is the same noise times that.
// LARGE-LABEL: fuseops.fusible @noise(
// LARGE: %[[SIN:.+]] = math.sin
// LARGE-NEXT: %[[U:.+]] = arith.constant 1.90734863E-6 : f32
// LARGE-NEXT: arith.mulf %[[SIN]], %[[U]] : f32
// LARGE: arith.constant 1.562500e-02 : f32
fuseops.fusible @noise(%x: tensor<?x64xbf16>) -> (tensor<?x64xbf16>, tensor<?x64xi1>)
forward {
  %y = fuseops.pointwise (%e = %x) : (tensor<?x64xbf16>) -> tensor<?x64xbf16> {
    %t = math.tanh %e : f32
    %n = arith.negf %t : f32
    fuseops.yield %n : f32
  }
  %bits = fuseops.pointwise (%e = %y) : (tensor<?x64xbf16>) -> tensor<?x64xi1> {
    %zero = arith.constant 0.0 : f32
    %is = arith.cmpf ogt, %e, %zero : f32
    fuseops.yield %is : i1
  }
  fuseops.return %y, %bits : tensor<?x64xbf16>, tensor<?x64xi1>
}

// The terms of a sum get the noise of its accumulation, 8 roundings for 64
// terms, and so does their sum; an operation that is no core operation gets the
// noise of what it is written in.
// CHECK-LABEL: fuseops.fusible @sums(
// CHECK: %[[TERMS:.+]] = fuseops.pointwise ({{.+}}) : (tensor<?x64xbf16>) -> tensor<?x64xbf16> {
// CHECK: arith.constant 4.76837158E-7 : f32
// CHECK: %[[SUM:.+]] = fuseops.reduce_columns sum %[[TERMS]]
// CHECK: fuseops.pointwise (%{{.+}} = %[[SUM]]) : (tensor<?x1xf32>) -> tensor<?x1xf32> {
// CHECK: arith.constant 4.76837158E-7 : f32
// CHECK-NOT: fuseops.l2_norm
// CHECK: math.rsqrt
fuseops.fusible @sums(%x: tensor<?x64xbf16>) -> (tensor<?x1xf32>, tensor<?x64xbf16>)
forward {
  %s = fuseops.reduce_columns sum %x : tensor<?x64xbf16> -> tensor<?x1xf32>
  %y, %r = fuseops.l2_norm %x eps(0.01) : tensor<?x64xbf16> -> (tensor<?x64xbf16>, tensor<?x1xf32>)
  fuseops.return %s, %y : tensor<?x1xf32>, tensor<?x64xbf16>
}

// What a product contracts counts as its terms, a symbol as 32 of them. Both
// factors get their noise: equal ones get equal noise.
// CHECK-LABEL: fuseops.fusible @products(
// CHECK-SAME: %[[X:.+]]: tensor<?x16xf32>, %[[W:.+]]: tensor<16x3xf32>)
// CHECK: %[[LHS:.+]] = fuseops.pointwise (%{{.+}} = %[[X]])
// CHECK: arith.constant 2.38418579E-7 : f32
// CHECK: %[[RHS:.+]] = fuseops.pointwise (%{{.+}} = %[[W]])
// CHECK: arith.constant 2.38418579E-7 : f32
// CHECK: fuseops.matmul %[[LHS]], %[[RHS]] : tensor<?x16xf32>, tensor<16x3xf32>
// CHECK: %[[ROWS:.+]] = fuseops.pointwise (%{{.+}} = %[[X]])
// CHECK: arith.constant 3.37174782E-7 : f32
// CHECK: %[[OTHERS:.+]] = fuseops.pointwise
// CHECK: arith.constant 3.37174782E-7 : f32
// CHECK: fuseops.matmul %[[ROWS]], %[[OTHERS]] transpose_lhs : tensor<?x16xf32>, tensor<?x3xf32>
fuseops.fusible @products(%x: tensor<?x16xf32>, %w: tensor<16x3xf32>) -> tensor<16x3xf32>
forward {
  %y = fuseops.matmul %x, %w : tensor<?x16xf32>, tensor<16x3xf32> -> tensor<?x3xf32>
  %z = fuseops.matmul %x, %y transpose_lhs : tensor<?x16xf32>, tensor<?x3xf32> -> tensor<16x3xf32>
  fuseops.return %z : tensor<16x3xf32>
}

// f16 has few exponents: a result that is not 0 moves by half of its least
// number too.
// CHECK-LABEL: fuseops.fusible @half(
// CHECK: arith.constant 4.8828125E-4 : f32
// CHECK: arith.addf
// CHECK-NEXT: %[[NOISY:.+]] = arith.mulf
// CHECK-NEXT: %[[LEAST:.+]] = arith.constant 2.98023224E-8 : f32
// CHECK-NEXT: %[[MOVED:.+]] = math.fma %{{.+}}, %[[LEAST]], %[[NOISY]] : f32
// CHECK-NEXT: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[IS_ZERO:.+]] = arith.cmpf oeq, %[[X:.+]], %[[ZERO]] : f32
// CHECK-NEXT: arith.select %[[IS_ZERO]], %[[X]], %[[MOVED]] : f32
// LARGE-LABEL: fuseops.fusible @half(
// LARGE: arith.constant 0.001953125 : f32
// LARGE: arith.constant 1.1920929E-7 : f32
fuseops.fusible @half(%x: tensor<?x64xf16>) -> tensor<?x64xf16>
forward {
  %y = fuseops.scale %x by(0.3) : tensor<?x64xf16>
  fuseops.return %y : tensor<?x64xf16>
}

// A type has a range: past it is an infinity.
// RANGE-LABEL: fuseops.fusible @range(
// RANGE: %[[EXP:.+]] = math.exp
// RANGE: %[[NOISY:.+]] = arith.mulf %[[EXP]], %{{.+}} : f32
// RANGE-NEXT: %[[SIZE:.+]] = math.absf %[[NOISY]] : f32
// RANGE-NEXT: %[[LARGEST:.+]] = arith.constant 3.40282347E+38 : f32
// RANGE-NEXT: %[[IS_PAST:.+]] = arith.cmpf ogt, %[[SIZE]], %[[LARGEST]] : f32
// RANGE-NEXT: %[[INFINITY:.+]] = arith.constant 0x7F800000 : f32
// RANGE-NEXT: %[[SIGNED:.+]] = math.copysign %[[INFINITY]], %[[NOISY]] : f32
// RANGE-NEXT: %[[LIMITED:.+]] = arith.select %[[IS_PAST]], %[[SIGNED]], %[[NOISY]] : f32
// RANGE-NEXT: fuseops.yield %[[LIMITED]] : f32
// RANGE: arith.constant 6.550400e+04 : f32
// CHECK-LABEL: fuseops.fusible @range(
// CHECK-NOT: math.copysign
fuseops.fusible @range(%x: tensor<?x64xf16>) -> tensor<?x64xf16>
forward {
  %y = fuseops.pointwise (%e = %x) : (tensor<?x64xf16>) -> tensor<?x64xf16> {
    %t = math.exp %e : f32
    fuseops.yield %t : f32
  }
  fuseops.return %y : tensor<?x64xf16>
}
