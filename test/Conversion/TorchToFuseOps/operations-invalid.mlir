// What the conversions of single operations refuse.
// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file --verify-diagnostics

func.func @f(%x: !torch.vtensor<[?,8],f32>) -> !torch.vtensor<[4,8],f32> {
  %int0 = torch.constant.int 0
  %int4 = torch.constant.int 4
  %int1 = torch.constant.int 1
  // expected-error@below {{cannot convert `torch.aten.slice.Tensor`: expected to cut a dimension of known size, but it's symbolic}}
  %0 = torch.aten.slice.Tensor %x, %int0, %int0, %int4, %int1 : !torch.vtensor<[?,8],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4,8],f32>
  return %0 : !torch.vtensor<[4,8],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,8],f32> {
  %int1 = torch.constant.int 1
  %int0 = torch.constant.int 0
  %int8 = torch.constant.int 8
  // expected-error@below {{cannot convert `torch.aten.slice.Tensor`: expected a positive step, but got 0}}
  %0 = torch.aten.slice.Tensor %x, %int1, %int0, %int8, %int0 : !torch.vtensor<[4,8],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4,8],f32>
  return %0 : !torch.vtensor<[4,8],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>, %n: !torch.int) -> !torch.vtensor<[4,8],f32> {
  %int1 = torch.constant.int 1
  %int0 = torch.constant.int 0
  // expected-error@below {{cannot convert `torch.aten.slice.Tensor`: expected operand 3 to be a constant integer, but got an argument of the function}}
  %0 = torch.aten.slice.Tensor %x, %int1, %int0, %n, %int1 : !torch.vtensor<[4,8],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4,8],f32>
  return %0 : !torch.vtensor<[4,8],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,4],f32> {
  %int1 = torch.constant.int 1
  %int5 = torch.constant.int 5
  %int4 = torch.constant.int 4
  // expected-error@below {{cannot convert `torch.aten.narrow`: expected elements within 8}}
  %0 = torch.aten.narrow %x, %int1, %int5, %int4 : !torch.vtensor<[4,8],f32>, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4,4],f32>
  return %0 : !torch.vtensor<[4,4],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4],f32> {
  %int1 = torch.constant.int 1
  %int8 = torch.constant.int 8
  // expected-error@below {{cannot convert `torch.aten.select.int`: expected a dimension of 8, but got 8}}
  %0 = torch.aten.select.int %x, %int1, %int8 : !torch.vtensor<[4,8],f32>, !torch.int, !torch.int -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[?,8],f32>) -> !torch.vtensor<[?,8],f32> {
  %int0 = torch.constant.int 0
  %l0 = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
  // expected-error@below {{cannot convert `torch.aten.flip`: expected to cut a dimension of known size, but it's symbolic}}
  %1 = torch.aten.flip %x, %l0 : !torch.vtensor<[?,8],f32>, !torch.list<int> -> !torch.vtensor<[?,8],f32>
  return %1 : !torch.vtensor<[?,8],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[?,8],f32>) -> !torch.vtensor<[?,8],f32> {
  %int0 = torch.constant.int 0
  %l0 = torch.prim.ListConstruct %x, %x : (!torch.vtensor<[?,8],f32>, !torch.vtensor<[?,8],f32>) -> !torch.list<vtensor>
  // expected-error@below {{cannot convert `torch.aten.cat`: expected to join along a dimension of known size, but it's symbolic}}
  %1 = torch.aten.cat %l0, %int0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[?,8],f32>
  return %1 : !torch.vtensor<[?,8],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>, %y: !torch.vtensor<[5,8],f32>) -> !torch.vtensor<[4,16],f32> {
  %int1 = torch.constant.int 1
  %l0 = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[4,8],f32>, !torch.vtensor<[5,8],f32>) -> !torch.list<vtensor>
  // expected-error@below {{cannot convert `torch.aten.cat`: expected tensors that differ in dimension 1 only}}
  %1 = torch.aten.cat %l0, %int1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[4,16],f32>
  return %1 : !torch.vtensor<[4,16],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,11],f32> {
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %int0 = torch.constant.int 0
  %l0 = torch.prim.ListConstruct %int1, %int2, %int3 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  // expected-error@below {{cannot convert `torch.aten.constant_pad_nd`: expected two sizes for each padded dimension}}
  %1 = torch.aten.constant_pad_nd %x, %l0, %int0 : !torch.vtensor<[4,8],f32>, !torch.list<int>, !torch.int -> !torch.vtensor<[4,11],f32>
  return %1 : !torch.vtensor<[4,11],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,0],f32> {
  %int-5 = torch.constant.int -5
  %int-4 = torch.constant.int -4
  %int0 = torch.constant.int 0
  %l0 = torch.prim.ListConstruct %int-5, %int-4 : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error@below {{cannot convert `torch.aten.constant_pad_nd`: expected to cut no more than there is}}
  %1 = torch.aten.constant_pad_nd %x, %l0, %int0 : !torch.vtensor<[4,8],f32>, !torch.list<int>, !torch.int -> !torch.vtensor<[4,0],f32>
  return %1 : !torch.vtensor<[4,0],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,8],f32> {
  %int0 = torch.constant.int 0
  %l0 = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
  // expected-error@below {{cannot convert `torch.aten.permute`: expected one number for each dimension}}
  %1 = torch.aten.permute %x, %l0 : !torch.vtensor<[4,8],f32>, !torch.list<int> -> !torch.vtensor<[4,8],f32>
  return %1 : !torch.vtensor<[4,8],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,8],f32> {
  %int0 = torch.constant.int 0
  %l0 = torch.prim.ListConstruct %int0, %int0 : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error@below {{cannot convert `torch.aten.permute`: expected different dimensions, but got 0 twice}}
  %1 = torch.aten.permute %x, %l0 : !torch.vtensor<[4,8],f32>, !torch.list<int> -> !torch.vtensor<[4,8],f32>
  return %1 : !torch.vtensor<[4,8],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[?,8],f32>) -> !torch.vtensor<[?,8],f32> {
  %int2 = torch.constant.int 2
  %int1 = torch.constant.int 1
  %l0 = torch.prim.ListConstruct %int2, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error@below {{cannot convert `torch.aten.repeat`: expected to repeat a dimension of known size}}
  %1 = torch.aten.repeat %x, %l0 : !torch.vtensor<[?,8],f32>, !torch.list<int> -> !torch.vtensor<[?,8],f32>
  return %1 : !torch.vtensor<[?,8],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,9],f32> {
  %int4 = torch.constant.int 4
  %int9 = torch.constant.int 9
  %false = torch.constant.bool false
  %l0 = torch.prim.ListConstruct %int4, %int9 : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error@below {{cannot convert `torch.aten.expand`: expected operand 0 to broadcast to the result}}
  %1 = torch.aten.expand %x, %l0, %false : !torch.vtensor<[4,8],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[4,9],f32>
  return %1 : !torch.vtensor<[4,9],f32>
}

// -----

// Both sizes are symbolic, one of them 8 times as large.
func.func @f(%x: !torch.vtensor<[?,8,4],f32>, %y: !torch.vtensor<[?,4],f32>) -> !torch.vtensor<[?,4],f32> {
  %int-1 = torch.constant.int -1
  %int4 = torch.constant.int 4
  %int1 = torch.constant.int 1
  %l0 = torch.prim.ListConstruct %int-1, %int4 : (!torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.aten.view %x, %l0 : !torch.vtensor<[?,8,4],f32>, !torch.list<int> -> !torch.vtensor<[?,4],f32>
  // expected-error@below {{cannot convert `torch.aten.add.Tensor`: expected every `?` to stand for the same size}}
  %2 = torch.aten.add.Tensor %1, %y, %int1 : !torch.vtensor<[?,4],f32>, !torch.vtensor<[?,4],f32>, !torch.int -> !torch.vtensor<[?,4],f32>
  return %2 : !torch.vtensor<[?,4],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[?,8,4],f32>) -> !torch.vtensor<[?,4],f32> {
  %int-1 = torch.constant.int -1
  %int4 = torch.constant.int 4
  %l0 = torch.prim.ListConstruct %int-1, %int4 : (!torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.aten.view %x, %l0 : !torch.vtensor<[?,8,4],f32>, !torch.list<int> -> !torch.vtensor<[?,4],f32>
  // expected-error@below {{cannot convert `func.return`: expected results of symbolic size to be as large as the arguments', but result 0 is 8 times as large}}
  return %1 : !torch.vtensor<[?,4],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[?,8],f32>) -> !torch.vtensor<[8],f32> {
  %int0 = torch.constant.int 0
  %false = torch.constant.bool false
  %none = torch.constant.none
  // expected-error@below {{cannot convert `torch.aten.prod.dim_int`: expected a product over a dimension of known size, but it's symbolic}}
  %0 = torch.aten.prod.dim_int %x, %int0, %false, %none : !torch.vtensor<[?,8],f32>, !torch.int, !torch.bool, !torch.none -> !torch.vtensor<[8],f32>
  return %0 : !torch.vtensor<[8],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[8],f32> {
  %int0 = torch.constant.int 0
  %int-2 = torch.constant.int -2
  %false = torch.constant.bool false
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %int0, %int-2 : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error@below {{cannot convert `torch.aten.sum.dim_IntList`: expected different dimensions, but got 0 twice}}
  %1 = torch.aten.sum.dim_IntList %x, %l0, %false, %none : !torch.vtensor<[4,8],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[8],f32>
  return %1 : !torch.vtensor<[8],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],si64>) -> !torch.vtensor<[8],si64> {
  %int0 = torch.constant.int 0
  %false = torch.constant.bool false
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
  // expected-error@below {{cannot convert `torch.aten.mean.dim`: expected a mean of floats, but got `tensor<8xi64>`}}
  %1 = torch.aten.mean.dim %x, %l0, %false, %none : !torch.vtensor<[4,8],si64>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[8],si64>
  return %1 : !torch.vtensor<[8],si64>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>, %p: !torch.float) -> !torch.vtensor<[8],f32> {
  %int0 = torch.constant.int 0
  %false = torch.constant.bool false
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
  // expected-error@below {{cannot convert `torch.aten.linalg_vector_norm`: expected operand 1 to be a constant number, but got an argument of the function}}
  %1 = torch.aten.linalg_vector_norm %x, %p, %l0, %false, %none : !torch.vtensor<[4,8],f32>, !torch.float, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[8],f32>
  return %1 : !torch.vtensor<[8],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[?,8],f32>) -> !torch.vtensor<[?,8],f32> {
  %int0 = torch.constant.int 0
  %none = torch.constant.none
  // expected-error@below {{cannot convert `torch.aten.softmax.int`: expected a dimension of known size, but it's symbolic}}
  %0 = torch.aten.softmax.int %x, %int0, %none : !torch.vtensor<[?,8],f32>, !torch.int, !torch.none -> !torch.vtensor<[?,8],f32>
  return %0 : !torch.vtensor<[?,8],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>, %y: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[],f32> {
  %int3 = torch.constant.int 3
  // expected-error@below {{cannot convert `torch.aten.mse_loss`: expected a reduction of 0, 1 or 2, but got 3}}
  %0 = torch.aten.mse_loss %x, %y, %int3 : !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,8],f32>, !torch.int -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>, %y: !torch.vtensor<[5,8],f32>) -> !torch.vtensor<[],f32> {
  %int1 = torch.constant.int 1
  // expected-error@below {{cannot convert `torch.aten.mse_loss`: expected tensors that broadcast to one of them}}
  %0 = torch.aten.mse_loss %x, %y, %int1 : !torch.vtensor<[4,8],f32>, !torch.vtensor<[5,8],f32>, !torch.int -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[6,4],f32>, %i: !torch.vtensor<[4],si64>) -> !torch.vtensor<[4,4],f32> {
  %int0 = torch.constant.int 0
  // expected-error@below {{cannot convert `torch.aten.index_select`: expected indices that are constants of the program}}
  %0 = torch.aten.index_select %x, %int0, %i : !torch.vtensor<[6,4],f32>, !torch.int, !torch.vtensor<[4],si64> -> !torch.vtensor<[4,4],f32>
  return %0 : !torch.vtensor<[4,4],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[6],f32>) -> !torch.vtensor<[6],f32> {
  %int0 = torch.constant.int 0
  // expected-error@below {{cannot convert `torch.aten.diagonal`: expected two dimensions of known size}}
  %0 = torch.aten.diagonal %x, %int0, %int0, %int0 : !torch.vtensor<[6],f32>, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[6],f32>
  return %0 : !torch.vtensor<[6],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>, %t: !torch.vtensor<[5],si64>) -> !torch.vtensor<[],f32> {
  %none = torch.constant.none
  %int1 = torch.constant.int 1
  %int-100 = torch.constant.int -100
  %float0_0 = torch.constant.float 0.0
  // expected-error@below {{cannot convert `torch.aten.cross_entropy_loss`: expected one target a row, but got `tensor<5xi64>`}}
  %0 = torch.aten.cross_entropy_loss %x, %t, %none, %int1, %int-100, %float0_0 : !torch.vtensor<[4,8],f32>, !torch.vtensor<[5],si64>, !torch.none, !torch.int, !torch.int, !torch.float -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>, %t: !torch.vtensor<[4,8],f32>) -> (!torch.vtensor<[],f32>, !torch.vtensor<[],f32>) {
  %none = torch.constant.none
  %int1 = torch.constant.int 1
  %int-100 = torch.constant.int -100
  // expected-error@below {{cannot convert `torch.aten.nll_loss_forward`: expected integers as targets}}
  %0, %1 = torch.aten.nll_loss_forward %x, %t, %none, %int1, %int-100 : !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,8],f32>, !torch.none, !torch.int, !torch.int -> !torch.vtensor<[],f32>, !torch.vtensor<[],f32>
  return %0, %1 : !torch.vtensor<[],f32>, !torch.vtensor<[],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,8],f32> {
  %int4 = torch.constant.int 4
  %none = torch.constant.none
  %float1e_05 = torch.constant.float 1.0e-05
  %true = torch.constant.bool true
  %l0 = torch.prim.ListConstruct %int4, %int4 : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error@below {{cannot convert `torch.aten.layer_norm`: expected a normalized shape that is the input's last sizes, but got `tensor<4x8xf32>`}}
  %1 = torch.aten.layer_norm %x, %l0, %none, %none, %float1e_05, %true : !torch.vtensor<[4,8],f32>, !torch.list<int>, !torch.none, !torch.none, !torch.float, !torch.bool -> !torch.vtensor<[4,8],f32>
  return %1 : !torch.vtensor<[4,8],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
  %int4 = torch.constant.int 4
  %none = torch.constant.none
  %float1e_05 = torch.constant.float 1.0e-05
  %true = torch.constant.bool true
  // expected-error@below {{cannot convert `torch.aten.group_norm`: expected channels of known number and size in whole groups, but got `tensor<4x6xf32>` and 4 groups}}
  %0 = torch.aten.group_norm %x, %int4, %none, %none, %float1e_05, %true : !torch.vtensor<[4,6],f32>, !torch.int, !torch.none, !torch.none, !torch.float, !torch.bool -> !torch.vtensor<[4,6],f32>
  return %0 : !torch.vtensor<[4,6],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,6],f32>, %m: !torch.vtensor<[6],f32>) -> !torch.vtensor<[4,6],f32> {
  %none = torch.constant.none
  %true = torch.constant.bool true
  %float0_1 = torch.constant.float 0.1
  %float1e_05 = torch.constant.float 1.0e-05
  %false = torch.constant.bool false
  // expected-error@below {{cannot convert `torch.aten.batch_norm`: expected the running statistics to be used: those of the batch are not computed}}
  %0 = torch.aten.batch_norm %x, %none, %none, %m, %m, %true, %float0_1, %float1e_05, %false : !torch.vtensor<[4,6],f32>, !torch.none, !torch.none, !torch.vtensor<[6],f32>, !torch.vtensor<[6],f32>, !torch.bool, !torch.float, !torch.float, !torch.bool -> !torch.vtensor<[4,6],f32>
  return %0 : !torch.vtensor<[4,6],f32>
}

// -----

func.func @f(%a: !torch.vtensor<[4,8],f32>, %b: !torch.vtensor<[8,4],bf16>) -> !torch.vtensor<[4,4],f32> {
  // expected-error@below {{cannot convert `torch.aten.mm`: expected operands of one dtype, but got `f32` and `bf16`}}
  %0 = torch.aten.mm %a, %b : !torch.vtensor<[4,8],f32>, !torch.vtensor<[8,4],bf16> -> !torch.vtensor<[4,4],f32>
  return %0 : !torch.vtensor<[4,4],f32>
}

// -----

func.func @f(%a: !torch.vtensor<[4,8],f32>, %b: !torch.vtensor<[9,4],f32>) -> !torch.vtensor<[4,4],f32> {
  // expected-error@below {{cannot convert `torch.aten.mm`: expected as many columns in the left operand as rows in the right one, but got 8 and 9}}
  %0 = torch.aten.mm %a, %b : !torch.vtensor<[4,8],f32>, !torch.vtensor<[9,4],f32> -> !torch.vtensor<[4,4],f32>
  return %0 : !torch.vtensor<[4,4],f32>
}

// -----

func.func @f(%a: !torch.vtensor<[?,4,8],f32>, %b: !torch.vtensor<[?,8,4],f32>) -> !torch.vtensor<[?,4,4],f32> {
  // expected-error@below {{cannot convert `torch.aten.bmm`: expected a known number of matrices, but it's symbolic}}
  %0 = torch.aten.bmm %a, %b : !torch.vtensor<[?,4,8],f32>, !torch.vtensor<[?,8,4],f32> -> !torch.vtensor<[?,4,4],f32>
  return %0 : !torch.vtensor<[?,4,4],f32>
}

// -----

func.func @f(%a: !torch.vtensor<[2,?,8],f32>, %b: !torch.vtensor<[2,8,4],f32>) -> !torch.vtensor<[2,?,4],f32> {
  // expected-error@below {{cannot convert `torch.aten.bmm`: expected matrices of known size, but the rows of the left ones are symbolic}}
  %0 = torch.aten.bmm %a, %b : !torch.vtensor<[2,?,8],f32>, !torch.vtensor<[2,8,4],f32> -> !torch.vtensor<[2,?,4],f32>
  return %0 : !torch.vtensor<[2,?,4],f32>
}

// -----

func.func @f(%a: !torch.vtensor<[4,8],f32>, %b: !torch.vtensor<[8],f32>) -> !torch.vtensor<[4],f32> {
  %str0 = torch.constant.str "ij,j,j->i"
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %a, %b : (!torch.vtensor<[4,8],f32>, !torch.vtensor<[8],f32>) -> !torch.list<vtensor>
  // expected-error@below {{cannot convert `torch.aten.einsum`: expected 3 operands, but got 2}}
  %1 = torch.aten.einsum %str0, %l0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}

// -----

func.func @f(%a: !torch.vtensor<[4,3],f32>) -> !torch.vtensor<[4],f32> {
  %str0 = torch.constant.str "ii->i"
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %a : (!torch.vtensor<[4,3],f32>) -> !torch.list<vtensor>
  // expected-error@below {{cannot convert `torch.aten.einsum`: expected one known size for `i`}}
  %1 = torch.aten.einsum %str0, %l0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}

// -----

func.func @f(%a: !torch.vtensor<[4,3],f32>) -> !torch.vtensor<[4],f32> {
  %str0 = torch.constant.str "i->i"
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %a : (!torch.vtensor<[4,3],f32>) -> !torch.list<vtensor>
  // expected-error@below {{cannot convert `torch.aten.einsum`: expected a letter for each of 2 dimensions, but got `i`}}
  %1 = torch.aten.einsum %str0, %l0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}

// -----

func.func @f(%a: !torch.vtensor<[4,8],si64>, %b: !torch.vtensor<[8],f32>) -> !torch.vtensor<[4],f32> {
  %str0 = torch.constant.str "ij,j->i"
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %a, %b : (!torch.vtensor<[4,8],si64>, !torch.vtensor<[8],f32>) -> !torch.list<vtensor>
  // expected-error@below {{cannot convert `torch.aten.einsum`: expected operands of one dtype, but got `tensor<8xf32>` and `i64`}}
  %1 = torch.aten.einsum %str0, %l0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}

// -----

func.func @f(%a: !torch.vtensor<[4,8],f32>, %b: !torch.vtensor<[9],f32>) -> !torch.vtensor<[4],f32> {
  %str0 = torch.constant.str "ij,j->i"
  %none = torch.constant.none
  %l0 = torch.prim.ListConstruct %a, %b : (!torch.vtensor<[4,8],f32>, !torch.vtensor<[9],f32>) -> !torch.list<vtensor>
  // expected-error@below {{cannot convert `torch.aten.einsum`: expected one size for `j`}}
  %1 = torch.aten.einsum %str0, %l0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}

// -----

// In u8, which wraps, PyTorch's -1 is 255.
func.func @f(%x: !torch.vtensor<[8],ui8>) -> !torch.vtensor<[8],f32> {
  %int0 = torch.constant.int 0
  %margin = torch.constant.float 5.0e-01
  // expected-error@below {{cannot convert `torch.aten.margin_ranking_loss`: expected floating-point tensors, but got `tensor<8xui8>`}}
  %0 = torch.aten.margin_ranking_loss %x, %x, %x, %margin, %int0 : !torch.vtensor<[8],ui8>, !torch.vtensor<[8],ui8>, !torch.vtensor<[8],ui8>, !torch.float, !torch.int -> !torch.vtensor<[8],f32>
  return %0 : !torch.vtensor<[8],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[8],f32>) -> !torch.vtensor<[8],f32> {
  %int0 = torch.constant.int 0
  // expected-error@below {{cannot convert `torch.aten.tril`: expected matrices of known size, but got `tensor<8xf32>`}}
  %0 = torch.aten.tril %x, %int0 : !torch.vtensor<[8],f32>, !torch.int -> !torch.vtensor<[8],f32>
  return %0 : !torch.vtensor<[8],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>) -> !torch.float {
  // expected-error@below {{cannot convert `torch.aten.item`: expected a tensor of one element, but got `tensor<4x8xf32>`}}
  %0 = torch.aten.item %x : !torch.vtensor<[4,8],f32> -> !torch.float
  return %0 : !torch.float
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>) -> (!torch.vtensor<[4,8],f32>, !torch.vtensor<[4,8],i1>) {
  %float1_5 = torch.constant.float 1.5
  %true = torch.constant.bool true
  // expected-error@below {{cannot convert `torch.aten.native_dropout`: expected a probability of 0 to 1, but got 1.5}}
  %0, %1 = torch.aten.native_dropout %x, %float1_5, %true : !torch.vtensor<[4,8],f32>, !torch.float, !torch.bool -> !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,8],i1>
  return %0, %1 : !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,8],i1>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>) -> !torch.list<vtensor> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  // expected-error@below {{cannot convert `torch.aten.split.Tensor`: expected a positive size or number of pieces, but got 0}}
  %0 = torch.aten.split.Tensor %x, %int0, %int1 : !torch.vtensor<[4,8],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
  return %0 : !torch.list<vtensor>
}

// -----

func.func @f(%a: !torch.vtensor<[4,5],f32>, %b: !torch.vtensor<[3],f32>) -> !torch.vtensor<[20,3],f32> {
  // expected-error@below {{cannot convert `torch.aten.outer`: expected two vectors}}
  %0 = torch.aten.outer %a, %b : !torch.vtensor<[4,5],f32>, !torch.vtensor<[3],f32> -> !torch.vtensor<[20,3],f32>
  return %0 : !torch.vtensor<[20,3],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[1,2,3],f32>) -> !torch.vtensor<[1,2,5],f32> {
  %int1 = torch.constant.int 1
  %none = torch.constant.none
  %str = torch.constant.str "mirror"
  %0 = torch.prim.ListConstruct %int1, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error@below {{cannot convert `torch.aten.pad`: expected the mode constant, replicate, circular or reflect, but got `mirror`}}
  %1 = torch.aten.pad %x, %0, %str, %none : !torch.vtensor<[1,2,3],f32>, !torch.list<int>, !torch.str, !torch.none -> !torch.vtensor<[1,2,5],f32>
  return %1 : !torch.vtensor<[1,2,5],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[1,2,3],f32>) -> !torch.vtensor<[1,2,7],f32> {
  %int4 = torch.constant.int 4
  %int0 = torch.constant.int 0
  %none = torch.constant.none
  %str = torch.constant.str "circular"
  %0 = torch.prim.ListConstruct %int4, %int0 : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error@below {{cannot convert `torch.aten.pad`: expected to repeat no more than there is}}
  %1 = torch.aten.pad %x, %0, %str, %none : !torch.vtensor<[1,2,3],f32>, !torch.list<int>, !torch.str, !torch.none -> !torch.vtensor<[1,2,7],f32>
  return %1 : !torch.vtensor<[1,2,7],f32>
}
