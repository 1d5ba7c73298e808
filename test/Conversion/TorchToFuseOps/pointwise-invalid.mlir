// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file --verify-diagnostics

// The dtype of the computation.
func.func @f(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  // expected-error@below {{cannot convert `torch.aten.bitwise_and.Tensor`: expected an integer or a bool dtype, but got `f32`}}
  %0 = torch.aten.bitwise_and.Tensor %x, %x : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4],si32>) -> !torch.vtensor<[4],si32> {
  // expected-error@below {{cannot convert `torch.aten.mish`: expected a float dtype, but got `i32`}}
  %0 = torch.aten.mish %x : !torch.vtensor<[4],si32> -> !torch.vtensor<[4],si32>
  return %0 : !torch.vtensor<[4],si32>
}

// -----

func.func @f(%x: !torch.vtensor<[4],f8E4M3FN>) -> !torch.vtensor<[4],f8E4M3FN> {
  // expected-error@below {{cannot convert `torch.aten.neg`: expected f16, bf16, f32, f64, integers or bools, but got `!torch.vtensor<[4],f8E4M3FN>`}}
  %0 = torch.aten.neg %x : !torch.vtensor<[4],f8E4M3FN> -> !torch.vtensor<[4],f8E4M3FN>
  return %0 : !torch.vtensor<[4],f8E4M3FN>
}

// -----

// The result's dtype is what PyTorch promotes to.
func.func @f(%x: !torch.vtensor<[4],bf16>, %y: !torch.vtensor<[4],f16>) -> !torch.vtensor<[4],bf16> {
  // expected-error@below {{cannot convert `torch.aten.mul.Tensor`: expected a result of dtype `f32`, but got `tensor<4xbf16>`}}
  %0 = torch.aten.mul.Tensor %x, %y : !torch.vtensor<[4],bf16>, !torch.vtensor<[4],f16> -> !torch.vtensor<[4],bf16>
  return %0 : !torch.vtensor<[4],bf16>
}

// -----

func.func @f(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %int2 = torch.constant.int 2
  // expected-error@below {{cannot convert `torch.aten.gt.Scalar`: expected a result of dtype `i1`, but got `tensor<4xf32>`}}
  %0 = torch.aten.gt.Scalar %x, %int2 : !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

// Parameters.
func.func @f(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %ceil = torch.constant.str "ceil"
  // expected-error@below {{cannot convert `torch.aten.div.Tensor_mode`: expected the rounding mode `floor` or `trunc`, but got `ceil`}}
  %0 = torch.aten.div.Tensor_mode %x, %x, %ceil : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.str -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %int-1 = torch.constant.int -1
  // expected-error@below {{cannot convert `torch.aten.polygamma`: expected an order of at least 0, but got -1}}
  %0 = torch.aten.polygamma %int-1, %x : !torch.int, !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %lower = torch.constant.float 1.000000e-01
  %upper = torch.constant.float 3.000000e-01
  %true = torch.constant.bool true
  %none = torch.constant.none
  // expected-error@below {{cannot convert `torch.aten.rrelu`: expected no training, whose slopes are random numbers of PyTorch's own}}
  %0 = torch.aten.rrelu %x, %lower, %upper, %true, %none : !torch.vtensor<[4],f32>, !torch.float, !torch.float, !torch.bool, !torch.none -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,6],f32>, %w: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4,6],f32> {
  // expected-error@below {{cannot convert `torch.aten.prelu`: expected one weight, or one a channel, but got 4}}
  %0 = torch.aten.prelu %x, %w : !torch.vtensor<[4,6],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[4,6],f32>
  return %0 : !torch.vtensor<[4,6],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,5],f32>) -> !torch.vtensor<[4,2],f32> {
  %int-1 = torch.constant.int -1
  // expected-error@below {{cannot convert `torch.aten.glu`: expected an even, constant size of dimension 1}}
  %0 = torch.aten.glu %x, %int-1 : !torch.vtensor<[4,5],f32>, !torch.int -> !torch.vtensor<[4,2],f32>
  return %0 : !torch.vtensor<[4,2],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[0],f32> {
  // expected-error@below {{cannot convert `torch.aten.log_sigmoid_forward`: expected a buffer like the input, or no uses of it}}
  %0:2 = torch.aten.log_sigmoid_forward %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>, !torch.vtensor<[0],f32>
  return %0#1 : !torch.vtensor<[0],f32>
}
