// What the conversion refuses, and why.
// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file --verify-diagnostics

// -----

// expected-error@below {{cannot convert argument 0 of `f`: expected a known rank and dtype, but got `!torch.vtensor`}}
func.func @f(%x: !torch.vtensor) {
  return
}

// -----

// expected-error@below {{cannot convert argument 0 of `f`: expected a known rank and dtype, but got `!torch.vtensor<[2],unk>`}}
func.func @f(%x: !torch.vtensor<[2],unk>) {
  return
}

// -----

// expected-error@below {{cannot convert argument 0 of `f`: expected a dtype of real numbers, but got `!torch.vtensor<[2],complex<f32>>`}}
func.func @f(%x: !torch.vtensor<[2],complex<f32>>) {
  return
}

// -----

// expected-error@below {{cannot convert argument 0 of `f`: expected at most one symbolic size, but got `!torch.vtensor<[?,?,2],f32>`}}
func.func @f(%x: !torch.vtensor<[?,?,2],f32>) {
  return
}

// -----

// expected-error@below {{cannot convert argument 0 of `f`: expected a last size that isn't symbolic, but got `!torch.vtensor<[2,?],f32>`}}
func.func @f(%x: !torch.vtensor<[2,?],f32>) {
  return
}

// -----

// expected-error@below {{cannot convert function `f`: expected one block, but got 0}}
func.func private @f(%x: !torch.vtensor<[4,64],f32>)

// -----

// expected-error@below {{cannot convert function `f`: expected a `func.return` at its end}}
func.func @f(%x: !torch.vtensor<[4,64],f32>) {
  torch.aten.barrier
}

// -----

func.func @f(%x: !torch.vtensor<[?,64],f32>, %y: !torch.vtensor<[?,64],f32>) -> !torch.vtensor<[?,64],f32> {
  %0 = torch.symbolic_int "s33" {min_val = 0, max_val = 64} : !torch.int
  %1 = torch.symbolic_int "s50" {min_val = 0, max_val = 64} : !torch.int
  torch.bind_symbolic_shape %x, [%0], affine_map<()[s0] -> (s0, 64)> : !torch.vtensor<[?,64],f32>
  // expected-error@below {{expected one symbolic size, but got `s33` and `s50`}}
  torch.bind_symbolic_shape %y, [%1], affine_map<()[s0] -> (s0, 64)> : !torch.vtensor<[?,64],f32>
  return %x : !torch.vtensor<[?,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[?,64],f32>) -> !torch.vtensor<[?,64],f32> {
  %0 = torch.symbolic_int "s33" {min_val = 0, max_val = 64} : !torch.int
  // expected-error@below {{expected a symbol as the size of argument 0, but got the expression `s0 * 2`}}
  torch.bind_symbolic_shape %x, [%0], affine_map<()[s0] -> (s0 * 2, 64)> : !torch.vtensor<[?,64],f32>
  return %x : !torch.vtensor<[?,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[?,64],f32>) -> !torch.vtensor<[?,64],f32> {
  %int1 = torch.constant.int 1
  // expected-error@below {{expected the size of argument 0 to be a `torch.symbolic_int`}}
  torch.bind_symbolic_shape %x, [%int1], affine_map<()[s0] -> (s0, 64)> : !torch.vtensor<[?,64],f32>
  return %x : !torch.vtensor<[?,64],f32>
}

// -----

// Operations that there is no conversion of.
func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  // expected-error@below {{cannot convert `torch.aten.topk`: not a fusible operation}}
  %0 = torch.aten.topk %x : !torch.vtensor<[4,64],f32> -> !torch.vtensor<[4,64],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  // expected-error@below {{cannot convert `torch.demo.f`: not a fusible operation}}
  %0 = torch.operator "torch.demo.f"(%x) : (!torch.vtensor<[4,64],f32>) -> !torch.int
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  // expected-error@below {{cannot convert `arith.constant`: not a fusible operation}}
  %c = arith.constant 1 : i32
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

// Operands.
func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  // expected-error@below {{cannot convert `torch.aten.silu`: expected 1 to 1 operands, but got 2}}
  %0 = torch.aten.silu %x, %x : !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32> -> !torch.vtensor<[4,64],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %int1 = torch.constant.int 1
  // expected-error@below {{cannot convert `torch.aten.silu`: expected a float dtype, but got `i64`}}
  %0 = torch.aten.silu %int1 : !torch.int -> !torch.vtensor<[4,64],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>, %y: !torch.vtensor<[2],si64>) -> !torch.vtensor<[4,64],f32> {
  // expected-error@below {{cannot convert `torch.aten.silu`: expected a float dtype, but got `i64`}}
  %0 = torch.aten.silu %y : !torch.vtensor<[2],si64> -> !torch.vtensor<[2],si64>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

// Results.
func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  // expected-error@below {{cannot convert `torch.aten.silu`: expected operand 0 to broadcast to `tensor<64xf32>`, but got `tensor<4x64xf32>`}}
  %0 = torch.aten.silu %x : !torch.vtensor<[4,64],f32> -> !torch.vtensor<[64],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  // expected-error@below {{cannot convert `torch.aten.silu`: expected at least 1 results, but got 0}}
  torch.aten.silu %x : !torch.vtensor<[4,64],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  // expected-error@below {{cannot convert `torch.aten.silu`: expected a known rank and dtype, but got `!torch.vtensor`}}
  %0 = torch.aten.silu %x : !torch.vtensor<[4,64],f32> -> !torch.vtensor
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %str = torch.constant.str "sigmoid"
  // expected-error@below {{cannot convert `torch.aten.gelu`: expected the approximation `none` or `tanh`, but got `sigmoid`}}
  %0 = torch.aten.gelu %x, %str : !torch.vtensor<[4,64],f32>, !torch.str -> !torch.vtensor<[4,64],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>, %y: !torch.vtensor<[3],f32>) -> !torch.vtensor<[4,64],f32> {
  // expected-error@below {{cannot convert `torch.aten.mul.Tensor`: expected operand 1 to broadcast to `tensor<4x64xf32>`, but got `tensor<3xf32>`}}
  %0 = torch.aten.mul.Tensor %x, %y : !torch.vtensor<[4,64],f32>, !torch.vtensor<[3],f32> -> !torch.vtensor<[4,64],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

// Normalizations.
func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %i = torch.constant.int 32
  %none = torch.constant.none
  %0 = torch.prim.ListConstruct %i : (!torch.int) -> !torch.list<int>
  // expected-error@below {{cannot convert `torch.aten.rms_norm`: expected a normalized shape that is the input's last sizes, but got `tensor<4x64xf32>`}}
  %1 = torch.aten.rms_norm %x, %0, %none, %none : !torch.vtensor<[4,64],f32>, !torch.list<int>, !torch.none, !torch.none -> !torch.vtensor<[4,64],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %none = torch.constant.none
  // expected-error@below {{cannot convert `torch.aten.rms_norm`: expected operand 1 to be a list of constant integers}}
  %1 = torch.aten.rms_norm %x, %none, %none, %none : !torch.vtensor<[4,64],f32>, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[4,64],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

// Matrix products.
func.func @f(%x: !torch.vtensor<[4,64],f32>, %y: !torch.vtensor<[2,64,64],f32>) -> !torch.vtensor<[4,64],f32> {
  // expected-error@below {{cannot convert `torch.aten.linear`: expected a matrix as weight, but got 3 dimensions}}
  %0 = torch.aten.linear %x, %y : !torch.vtensor<[4,64],f32>, !torch.vtensor<[2,64,64],f32> -> !torch.vtensor<[4,64],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>, %y: !torch.vtensor<[64,4],bf16>) -> !torch.vtensor<[4,64],f32> {
  // expected-error@below {{cannot convert `torch.aten.mm`: expected operands of one dtype}}
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[4,64],f32>, !torch.vtensor<[64,4],bf16> -> !torch.vtensor<[4,4],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %int0 = torch.constant.int 0
  %int3 = torch.constant.int 3
  // expected-error@below {{cannot convert `torch.aten.transpose.int`: expected a dimension of 2, but got 3}}
  %0 = torch.aten.transpose.int %x, %int0, %int3 : !torch.vtensor<[4,64],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,64],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

// Layout.
func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %none = torch.constant.none
  // expected-error@below {{cannot convert `torch.aten.view`: expected as many elements in the result as in the operand, but got `tensor<4x64xf32>` and `tensor<2x64xf32>`}}
  %0 = torch.aten.view %x, %none : !torch.vtensor<[4,64],f32>, !torch.none -> !torch.vtensor<[2,64],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  // expected-error@below {{cannot convert `torch.aten.split.Tensor`: expected a positive size or number of pieces, but got 0}}
  %0 = torch.aten.split.Tensor %x, %int0, %int1 : !torch.vtensor<[4,64],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %int1 = torch.constant.int 1
  %int32 = torch.constant.int 32
  %0 = torch.aten.split.Tensor %x, %int32, %int1 : !torch.vtensor<[4,64],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
  // expected-error@below {{cannot convert `torch.prim.ListUnpack`: expected 2 results, but got 1}}
  %1 = torch.prim.ListUnpack %0 : !torch.list<vtensor> -> !torch.vtensor<[4,32],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %int1 = torch.constant.int 1
  %int65 = torch.constant.int 65
  %0 = torch.prim.ListConstruct %int65 : (!torch.int) -> !torch.list<int>
  // expected-error@below {{cannot convert `torch.aten.split_with_sizes`: expected pieces within 64 elements}}
  %1 = torch.aten.split_with_sizes %x, %0, %int1 : !torch.vtensor<[4,64],f32>, !torch.list<int>, !torch.int -> !torch.list<vtensor>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  // expected-error@below {{cannot convert `torch.aten.slice.Tensor`: expected a result of `tensor<4x2xf32>`, but got `tensor<4x3xf32>`}}
  %0 = torch.aten.slice.Tensor %x, %int1, %int0, %int2, %int1 : !torch.vtensor<[4,64],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4,3],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %int1 = torch.constant.int 1
  %0 = torch.prim.ListConstruct %x, %x : (!torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>) -> !torch.list<vtensor>
  // expected-error@below {{cannot convert `torch.aten.cat`: expected a result of size 128 in dimension 1, but got 64}}
  %1 = torch.aten.cat %0, %int1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[4,64],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

// Casts and constants.
func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %int44 = torch.constant.int 44
  // expected-error@below {{cannot convert `torch.prims.convert_element_type`: expected a conversion between f16, bf16, f32, f64, integers and bools, but got `f32` to `f8E8M0FNU`}}
  %0 = torch.prims.convert_element_type %x, %int44 : !torch.vtensor<[4,64],f32>, !torch.int -> !torch.vtensor<[4,64],f8E8M0FNU>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  // expected-error@below {{cannot convert `torch.vtensor.literal`: weights are elided (`__elided__`): print the module with its resources}}
  %0 = torch.vtensor.literal(dense_resource<__elided__> : tensor<4x64xf32>) : !torch.vtensor<[4,64],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  // expected-error@below {{cannot convert `torch.vtensor.literal`: the resource `lost` has no data}}
  %0 = torch.vtensor.literal(dense_resource<lost> : tensor<4x64xf32>) : !torch.vtensor<[4,64],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  // expected-error@below {{cannot convert `torch.vtensor.literal`: expected a constant of the result's shape}}
  %0 = torch.vtensor.literal(dense<1.0> : tensor<2xf32>) : !torch.vtensor<[3],f32>
  %1 = torch.aten.silu %0 : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

