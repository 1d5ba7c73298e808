// RUN: fuse-opt %s --fuseops-expand-math --split-input-file | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: fuse-opt %s --fuseops-expand-math=target=nvvm --split-input-file | FileCheck %s --check-prefixes=CHECK,NVVM

// CHECK-LABEL: func.func @exp_vector(
// CHECK-SAME:    %[[X:.+]]: vector<8xf32>
// CHECK-NOT:     math.exp
// CHECK:         %[[SHIFTED:.+]] = math.fma %{{.+}}, %{{.+}}, %{{.+}} : vector<8xf32>
// CPU:           arith.subf %[[SHIFTED]],
// NVVM:          arith.maximumf %[[SHIFTED]],
// NVVM-COUNT-8:  llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%{{.+}}) : (f32) -> f32
// CPU-NOT:       llvm.intr
// CHECK:         return
func.func @exp_vector(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.exp %x : vector<8xf32>
  return %y : vector<8xf32>
}

// -----

// CHECK-LABEL: func.func @tanh_scalar(
// CHECK-NOT:     math.tanh
// CPU:           arith.divf
// NVVM:          llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"
// NVVM:          nvvm.rcp.approx.ftz.f
// NVVM-NOT:      arith.divf
// CHECK:         math.copysign
func.func @tanh_scalar(%x: f32) -> f32 {
  %y = math.tanh %x : f32
  return %y : f32
}

// -----

// CHECK-LABEL: func.func @exp2_on_the_chip_is_one_instruction(
// NVVM-NEXT:     llvm.intr.exp2
// NVVM-NEXT:     return
// CPU:           math.fma
func.func @exp2_on_the_chip_is_one_instruction(%x: f32) -> f32 {
  %y = math.exp2 %x : f32
  return %y : f32
}

// -----

// The divisor of a sigmoid is no denormal: its reciprocal needs no scaling.
// CHECK-LABEL: func.func @sigmoid_by_the_reciprocal(
// CHECK-SAME:    %{{.+}}: vector<2xf32>, %[[N:.+]]: vector<2xf32>
// CPU:           arith.divf %[[N]],
// NVVM-COUNT-2:  nvvm.rcp.approx.ftz.f
// NVVM-NOT:      arith.divf
// NVVM:          %[[R:.+]] = vector.from_elements
// NVVM-NEXT:     arith.mulf %[[N]], %[[R]]
// CHECK:         return
func.func @sigmoid_by_the_reciprocal(%x: vector<2xf32>, %n: vector<2xf32>) -> vector<2xf32> {
  %c = arith.constant 1.0 : f32
  %one = vector.broadcast %c : f32 to vector<2xf32>
  %e = math.exp %x : vector<2xf32>
  %d = arith.addf %one, %e : vector<2xf32>
  %y = arith.divf %n, %d fastmath<afn> : vector<2xf32>
  return %y : vector<2xf32>
}

// -----

// CHECK-LABEL: func.func @other_divisions_stay(
// CHECK-COUNT-2: arith.divf
// CHECK-NOT:     nvvm.rcp
func.func @other_divisions_stay(%n: f32, %x: f32, %d: f32) -> (f32, f32) {
  %one = arith.constant 1.0 : f32
  %e = math.exp %x : f32
  %s = arith.addf %one, %e : f32
  %y = arith.divf %n, %d fastmath<afn> : f32
  %z = arith.divf %n, %s : f32
  return %y, %z : f32, f32
}

// -----

// CHECK-LABEL: func.func @short_exponential(
// CHECK-SAME:    %[[X:.+]]: f32)
// NVVM-DAG:      %[[LOG2E:.+]] = arith.constant 1.44269502
// NVVM:          %[[P:.+]] = arith.mulf %[[X]], %[[LOG2E]]
// NVVM-NEXT:     %[[E:.+]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%[[P]])
// NVVM-NEXT:     return %[[E]]
// CPU:           math.fma
func.func @short_exponential(%x: f32) -> f32 {
  %e = math.exp %x fastmath<afn> : f32
  return %e : f32
}

// -----

// What keeps small values precise where all bits count: not here.
// CHECK-LABEL: func.func @short_sigmoid(
// CHECK-SAME:    %[[X:.+]]: f32)
// NVVM-NOT:      arith.select
// NVVM:          %[[P:.+]] = arith.mulf %[[X]], %
// NVVM-NEXT:     %[[E:.+]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%[[P]])
// NVVM-NEXT:     %[[S:.+]] = arith.addf %[[E]], %
// NVVM-NEXT:     %[[R:.+]] = nvvm.rcp.approx.ftz.f %[[S]]
// NVVM-NEXT:     return %[[R]]
// CPU:           arith.select
func.func @short_sigmoid(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %positive = arith.cmpf oge, %x, %zero : f32
  %minus = arith.negf %x : f32
  %a = arith.select %positive, %minus, %x : f32
  %e = math.exp %a fastmath<afn> : f32
  %n = arith.select %positive, %one, %e : f32
  %d = arith.addf %one, %e : f32
  %y = arith.divf %n, %d fastmath<afn> : f32
  return %y : f32
}

// -----

// The factor is one of the constants of a polynomial, that of a product with it as
// well: x (c0 + c1 x^2), with c0 = 2 log2(e) and c1 = c0 / 4.
// CHECK-LABEL: func.func @exponential_of_a_polynomial(
// CHECK-SAME:    %[[X:.+]]: f32)
// NVVM-DAG:      %[[C0:.+]] = arith.constant 2.88539
// NVVM-DAG:      %[[C1:.+]] = arith.constant 0.721347
// NVVM:          %[[SQUARE:.+]] = arith.mulf %[[X]], %[[X]] : f32
// NVVM-NEXT:     %[[SUM:.+]] = math.fma %[[SQUARE]], %[[C1]], %[[C0]] : f32
// NVVM-NEXT:     %[[P:.+]] = arith.mulf %[[X]], %[[SUM]] : f32
// NVVM-NEXT:     llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%[[P]])
// NVVM-NEXT:     return
func.func @exponential_of_a_polynomial(%x: f32) -> f32 {
  %c = arith.constant 2.0 : f32
  %d = arith.constant 0.25 : f32
  %one = arith.constant 1.0 : f32
  %square = arith.mulf %x, %x fastmath<contract> : f32
  %cubic = arith.mulf %d, %square fastmath<contract> : f32
  %sum = arith.addf %one, %cubic fastmath<contract> : f32
  %linear = arith.mulf %c, %x fastmath<contract> : f32
  %p = arith.mulf %linear, %sum fastmath<contract> : f32
  %e = math.exp %p fastmath<afn> : f32
  return %e : f32
}

// -----

// No constant takes it: of a sum not all terms have one, and of what has to be
// rounded as it is written none does.
// CHECK-LABEL: func.func @exponential_of_other_sums(
// CHECK-SAME:    %[[X:.+]]: f32, %[[Y:.+]]: f32)
// NVVM-DAG:      %[[LOG2E:.+]] = arith.constant 1.44269502
// NVVM-DAG:      %[[A:.+]] = arith.addf %[[X]], %[[Y]] : f32
// NVVM-DAG:      arith.mulf %[[A]], %[[LOG2E]] : f32
// NVVM-DAG:      %[[B:.+]] = arith.mulf %[[X]], %{{.+}} : f32
// NVVM-DAG:      arith.mulf %[[B]], %[[LOG2E]] : f32
func.func @exponential_of_other_sums(%x: f32, %y: f32) -> (f32, f32) {
  %c = arith.constant 3.0 : f32
  %a = arith.addf %x, %y fastmath<contract> : f32
  %b = arith.mulf %x, %c : f32
  %d = math.exp %a fastmath<afn> : f32
  %e = math.exp %b fastmath<afn> : f32
  return %d, %e : f32, f32
}

// -----

// CHECK-LABEL: func.func @sums_and_products(
// CHECK-SAME:    %[[A:.+]]: f32, %[[B:.+]]: f32, %[[C:.+]]: f32)
// NVVM-DAG:      %[[SUM:.+]] = math.fma %[[A]], %[[B]], %[[C]] : f32
// NVVM-DAG:      %[[MINUS:.+]] = arith.negf %[[C]] : f32
// NVVM-DAG:      %[[LESS:.+]] = math.fma %[[A]], %[[B]], %[[MINUS]] : f32
// NVVM-DAG:      %[[NEGATED:.+]] = arith.negf %[[A]] : f32
// NVVM-DAG:      %[[FROM:.+]] = math.fma %[[NEGATED]], %[[B]], %[[C]] : f32
// NVVM:          return %[[SUM]], %[[LESS]], %[[FROM]]
// CPU:           arith.mulf
// CPU-NOT:       math.fma
func.func @sums_and_products(%a: f32, %b: f32, %c: f32) -> (f32, f32, f32) {
  %p = arith.mulf %a, %b fastmath<contract> : f32
  %s = arith.addf %c, %p fastmath<contract> : f32
  %d = arith.subf %p, %c fastmath<contract> : f32
  %e = arith.subf %c, %p fastmath<contract> : f32
  return %s, %d, %e : f32, f32, f32
}

// -----

// The difference of two products is 0 where they are equal; and without both
// flags nothing is contracted. LLVM finds no flag.
// CHECK-LABEL: func.func @products_stay(
// CHECK-NOT:     math.fma
// NVVM-NOT:      fastmath
func.func @products_stay(%a: f32, %b: f32, %c: f32, %d: f32) -> (f32, f32) {
  %p = arith.mulf %a, %b fastmath<contract> : f32
  %q = arith.mulf %c, %d fastmath<contract> : f32
  %s = arith.subf %p, %q fastmath<contract> : f32
  %t = arith.addf %s, %q : f32
  return %s, %t : f32, f32
}

// -----

// CHECK-LABEL: func.func @rsqrt_stays_ieee_on_the_cpu(
// CPU-NEXT:      math.rsqrt
// NVVM-NEXT:     llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"
func.func @rsqrt_stays_ieee_on_the_cpu(%x: f32) -> f32 {
  %y = math.rsqrt %x : f32
  return %y : f32
}

// -----

// Beyond 2^51 another reduction, in a branch.
// CHECK-LABEL: func.func @sine_in_two_ranges(
// CHECK-NOT:     math.sin
// CHECK:         arith.extf %{{.+}} : f32 to f64
// CHECK:         %[[HUGE:.+]] = arith.cmpf oge
// CHECK:         scf.if %[[HUGE]]
// CHECK:           arith.muli %{{.+}} : i64
func.func @sine_in_two_ranges(%x: f32) -> f32 {
  %y = math.sin %x : f32
  return %y : f32
}

// -----

// CHECK-LABEL: func.func @bf16_computes_in_f32(
// CHECK:         arith.extf %{{.+}} : vector<4xbf16> to vector<4xf32>
// CHECK-NOT:     math.log
// CHECK:         arith.truncf %{{.+}} : vector<4xf32> to vector<4xbf16>
func.func @bf16_computes_in_f32(%x: vector<4xbf16>) -> vector<4xbf16> {
  %y = math.log %x : vector<4xbf16>
  return %y : vector<4xbf16>
}

// -----

// CHECK-LABEL: func.func @all_are_expanded(
// CHECK-NOT:     math.{{(exp|exp2|expm1|log|log2|log10|log1p|tanh|erf|erfc)}} %
// CHECK:         return
func.func @all_are_expanded(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  %1 = math.exp2 %0 : f32
  %2 = math.expm1 %1 : f32
  %3 = math.log %2 : f32
  %4 = math.log2 %3 : f32
  %5 = math.log10 %4 : f32
  %6 = math.log1p %5 : f32
  %7 = math.tanh %6 : f32
  %8 = math.erf %7 : f32
  %9 = math.erfc %8 : f32
  return %9 : f32
}

// -----

// Refused: f64 belongs to libm, and these have no expansion.
// CHECK-LABEL: func.func @left_alone(
// CHECK-NEXT:    math.exp %{{.+}} : f64
// CHECK-NEXT:    math.powf
// CHECK-NEXT:    math.sqrt
func.func @left_alone(%x: f64, %y: f32) -> (f64, f32, f32) {
  %0 = math.exp %x : f64
  %1 = math.powf %y, %y : f32
  %2 = math.sqrt %y : f32
  return %0, %1, %2 : f64, f32, f32
}
