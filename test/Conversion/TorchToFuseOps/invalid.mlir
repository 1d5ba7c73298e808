// What the conversion refuses, and why.
// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file --verify-diagnostics

// expected-error@below {{cannot convert argument 0 of `f`: expected a `!torch.vtensor`, but got `!torch.int`}}
func.func @f(%x: !torch.int) {
  return
}

// -----

// expected-error@below {{cannot convert argument 0 of `f`: expected a `!torch.vtensor`, but got `!torch.tensor<[2],f32>`}}
func.func @f(%x: !torch.tensor<[2],f32>) {
  return
}

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

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.int {
  %int1 = torch.constant.int 1
  // expected-error@below {{cannot convert `func.return`: result 0: expected a `!torch.vtensor`, but got `!torch.int`}}
  return %int1 : !torch.int
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[64,4],f32> {
  %0 = torch.aten.t %x : !torch.vtensor<[4,64],f32> -> !torch.vtensor<[64,4],f32>
  // expected-error@below {{cannot convert `func.return`: operand 0 is a transpose, which only a matrix product takes}}
  return %0 : !torch.vtensor<[64,4],f32>
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

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  // expected-error@below {{cannot convert `torch.aten.thing`: not a fusible operation}}
  %0 = torch.aten.thing : !torch.tensor<[4,64],f32>
  // expected-error@below {{cannot convert `torch.overwrite.tensor.contents`: not a fusible operation}}
  "torch.overwrite.tensor.contents"(%x, %0) : (!torch.vtensor<[4,64],f32>, !torch.tensor<[4,64],f32>) -> ()
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
  // expected-error@below {{cannot convert `torch.aten.rms_norm`: expected a normalized shape of 64, but got 32}}
  %1 = torch.aten.rms_norm %x, %0, %none, %none : !torch.vtensor<[4,64],f32>, !torch.list<int>, !torch.none, !torch.none -> !torch.vtensor<[4,64],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %i = torch.constant.int 4
  %j = torch.constant.int 64
  %none = torch.constant.none
  %0 = torch.prim.ListConstruct %i, %j : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error@below {{cannot convert `torch.aten.rms_norm`: expected normalization over the last dimension only, but got 2 dimensions}}
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

func.func @f(%x: !torch.vtensor<[4,64],f32>, %y: !torch.vtensor<[2,64,4],f32>) -> !torch.vtensor<[4,64],f32> {
  // expected-error@below {{cannot convert `torch.aten.matmul`: expected a matrix as right operand, but got 3 dimensions}}
  %0 = torch.aten.matmul %x, %y : !torch.vtensor<[4,64],f32>, !torch.vtensor<[2,64,4],f32> -> !torch.vtensor<[2,4,4],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>, %y: !torch.vtensor<[64],f32>) -> !torch.vtensor<[4,64],f32> {
  // expected-error@below {{cannot convert `torch.aten.mm`: expected operand 0 to have at least two dimensions, but got `tensor<64xf32>`}}
  %0 = torch.aten.mm %y, %y : !torch.vtensor<[64],f32>, !torch.vtensor<[64],f32> -> !torch.vtensor<[],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>, %y: !torch.vtensor<[64,4],bf16>) -> !torch.vtensor<[4,64],f32> {
  // expected-error@below {{cannot convert `torch.aten.mm`: expected operands of one dtype}}
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[4,64],f32>, !torch.vtensor<[64,4],bf16> -> !torch.vtensor<[4,4],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>, %y: !torch.vtensor<[64,4],f32>, %z: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4,64],f32> {
  %a = torch.constant.float 5.0e-01
  %b = torch.constant.int 1
  // expected-error@below {{cannot convert `torch.aten.addmm`: expected beta and alpha to be 1, but got 0.5 and 1}}
  %0 = torch.aten.addmm %z, %x, %y, %a, %b : !torch.vtensor<[4],f32>, !torch.vtensor<[4,64],f32>, !torch.vtensor<[64,4],f32>, !torch.float, !torch.int -> !torch.vtensor<[4,4],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>, %y: !torch.vtensor<[2,64,4],f32>) -> !torch.vtensor<[4,64],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  // expected-error@below {{cannot convert `torch.aten.transpose.int`: expected a matrix to transpose, but got 3 dimensions}}
  %0 = torch.aten.transpose.int %y, %int0, %int1 : !torch.vtensor<[2,64,4],f32>, !torch.int, !torch.int -> !torch.vtensor<[64,2,4],f32>
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

func.func @f(%x: !torch.vtensor<[4,64],f32>, %y: !torch.vtensor<[?,2,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %none = torch.constant.none
  // expected-error@below {{cannot convert `torch.aten.view`: expected every `?` to stand for the same size, but got `tensor<?x2x64xf32>` and `tensor<?x64xf32>`}}
  %0 = torch.aten.view %y, %none : !torch.vtensor<[?,2,64],f32>, !torch.none -> !torch.vtensor<[?,64],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  // expected-error@below {{cannot convert `torch.aten.split.Tensor`: expected the last dimension, but got dimension 0 of 2}}
  %0 = torch.aten.split.Tensor %x, %int2, %int0 : !torch.vtensor<[4,64],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  // expected-error@below {{cannot convert `torch.aten.split.Tensor`: expected a positive number of columns or pieces, but got 0}}
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
  // expected-error@below {{cannot convert `torch.aten.split_with_sizes`: expected pieces within 64 columns}}
  %1 = torch.aten.split_with_sizes %x, %0, %int1 : !torch.vtensor<[4,64],f32>, !torch.list<int>, !torch.int -> !torch.list<vtensor>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  // expected-error@below {{cannot convert `torch.aten.slice.Tensor`: expected a step of 1, but got 2}}
  %0 = torch.aten.slice.Tensor %x, %int1, %int0, %int2, %int2 : !torch.vtensor<[4,64],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4,1],f32>
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
  %int0 = torch.constant.int 0
  %0 = torch.prim.ListConstruct %x, %x : (!torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>) -> !torch.list<vtensor>
  // expected-error@below {{cannot convert `torch.aten.cat`: expected the last dimension, but got dimension 0 of 2}}
  %1 = torch.aten.cat %0, %int0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[8,64],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %int1 = torch.constant.int 1
  %0 = torch.prim.ListConstruct %x, %x : (!torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>) -> !torch.list<vtensor>
  // expected-error@below {{cannot convert `torch.aten.cat`: expected a result of 128 columns, but got 64}}
  %1 = torch.aten.cat %0, %int1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[4,64],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>, %y: !torch.vtensor<[4,64],bf16>) -> !torch.vtensor<[4,64],f32> {
  %int1 = torch.constant.int 1
  %0 = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],bf16>) -> !torch.list<vtensor>
  // expected-error@below {{cannot convert `torch.aten.cat`: expected tensors of the result's dtype and rows}}
  %1 = torch.aten.cat %0, %int1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[4,128],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

// Casts and constants.
func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %int24 = torch.constant.int 24
  // expected-error@below {{cannot convert `torch.prims.convert_element_type`: expected a conversion between f16, bf16, f32, f64, integers and bools, but got `f32` to `f8E4M3FN`}}
  %0 = torch.prims.convert_element_type %x, %int24 : !torch.vtensor<[4,64],f32>, !torch.int -> !torch.vtensor<[4,64],f8E4M3FN>
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
  // expected-error@below {{cannot convert `torch.vtensor.literal`: a tensor constant of different elements isn't supported: pass it as an argument}}
  %0 = torch.vtensor.literal(dense<[1.0, 2.0]> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  %1 = torch.aten.silu %0 : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  // expected-error@below {{cannot convert `torch.vtensor.literal`: expected a constant of the result's shape}}
  %0 = torch.vtensor.literal(dense<1.0> : tensor<2xf32>) : !torch.vtensor<[3],f32>
  %1 = torch.aten.silu %0 : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

// Reductions.
func.func @f(%x: !torch.vtensor<[4,64],f32>, %y: !torch.vtensor<[2,64,4],f32>) -> !torch.vtensor<[4,64],f32> {
  %i0 = torch.constant.int 1
  %true = torch.constant.bool true
  %none = torch.constant.none
  %0 = torch.prim.ListConstruct %i0 : (!torch.int) -> !torch.list<int>
  // expected-error@below {{cannot convert `torch.aten.sum.dim_IntList`: expected the last dimension, or all others}}
  %1 = torch.aten.sum.dim_IntList %y, %0, %true, %none : !torch.vtensor<[2,64,4],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[2,1,4],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>, %y: !torch.vtensor<[2,64,4],f32>) -> !torch.vtensor<[4,64],f32> {
  %i0 = torch.constant.int 0
  %i1 = torch.constant.int 1
  %true = torch.constant.bool true
  %none = torch.constant.none
  %0 = torch.prim.ListConstruct %i0, %i1 : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error@below {{cannot convert `torch.aten.mean.dim`: expected the last dimension for a mean}}
  %1 = torch.aten.mean.dim %y, %0, %true, %none : !torch.vtensor<[2,64,4],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,1,4],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %true = torch.constant.bool true
  %none = torch.constant.none
  // expected-error@below {{cannot convert `torch.aten.mean.dim`: expected a list of dimensions, but got None}}
  %1 = torch.aten.mean.dim %x, %none, %true, %none : !torch.vtensor<[4,64],f32>, !torch.none, !torch.bool, !torch.none -> !torch.vtensor<[1,1],f32>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

// Dropout.
func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %p = torch.constant.float 1.0
  %true = torch.constant.bool true
  // expected-error@below {{cannot convert `torch.aten.native_dropout`: expected a probability of at least 0 and below 1, but got 1}}
  %result0, %result1 = torch.aten.native_dropout %x, %p, %true : !torch.vtensor<[4,64],f32>, !torch.float, !torch.bool -> !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],i1>
  return %x : !torch.vtensor<[4,64],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],i1> {
  %p = torch.constant.float 5.0e-01
  %true = torch.constant.bool true
  // expected-error@below {{cannot convert `torch.aten.native_dropout`: expected uses of the first result only, but the mask is used}}
  %result0, %result1 = torch.aten.native_dropout %x, %p, %true : !torch.vtensor<[4,64],f32>, !torch.float, !torch.bool -> !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],i1>
  return %result1 : !torch.vtensor<[4,64],i1>
}
