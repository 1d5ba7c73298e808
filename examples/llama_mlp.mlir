// A Llama MLP block (RMSNorm, gate, up and down projections, SwiGLU, residual) as
// torch-mlir prints it: hidden size 1024, intermediate size 2816, bf16, sequences
// of 128 tokens, any number of them.
module {
  func.func @main(%arg0: !torch.vtensor<[?,128,1024],bf16>, %arg1: !torch.vtensor<[1024],bf16>, %arg2: !torch.vtensor<[2816,1024],bf16>, %arg3: !torch.vtensor<[2816,1024],bf16>, %arg4: !torch.vtensor<[1024,2816],bf16>) -> !torch.vtensor<[?,128,1024],bf16> {
    %0 = torch.symbolic_int "s33" {min_val = 2, max_val = 1024} : !torch.int
    torch.bind_symbolic_shape %arg0, [%0], affine_map<()[s0] -> (s0, 128, 1024)> : !torch.vtensor<[?,128,1024],bf16>
    %int1024 = torch.constant.int 1024
    %1 = torch.prim.ListConstruct %int1024 : (!torch.int) -> !torch.list<int>
    %float9.999990e-07 = torch.constant.float 9.9999999999999995E-7
    %2 = torch.aten.rms_norm %arg0, %1, %arg1, %float9.999990e-07 : !torch.vtensor<[?,128,1024],bf16>, !torch.list<int>, !torch.vtensor<[1024],bf16>, !torch.float -> !torch.vtensor<[?,128,1024],bf16>
    torch.bind_symbolic_shape %2, [%0], affine_map<()[s0] -> (s0, 128, 1024)> : !torch.vtensor<[?,128,1024],bf16>
    %none = torch.constant.none
    %3 = torch.aten.linear %2, %arg2, %none : !torch.vtensor<[?,128,1024],bf16>, !torch.vtensor<[2816,1024],bf16>, !torch.none -> !torch.vtensor<[?,128,2816],bf16>
    torch.bind_symbolic_shape %3, [%0], affine_map<()[s0] -> (s0, 128, 2816)> : !torch.vtensor<[?,128,2816],bf16>
    %4 = torch.aten.silu %3 : !torch.vtensor<[?,128,2816],bf16> -> !torch.vtensor<[?,128,2816],bf16>
    torch.bind_symbolic_shape %4, [%0], affine_map<()[s0] -> (s0, 128, 2816)> : !torch.vtensor<[?,128,2816],bf16>
    %none_0 = torch.constant.none
    %5 = torch.aten.linear %2, %arg3, %none_0 : !torch.vtensor<[?,128,1024],bf16>, !torch.vtensor<[2816,1024],bf16>, !torch.none -> !torch.vtensor<[?,128,2816],bf16>
    torch.bind_symbolic_shape %5, [%0], affine_map<()[s0] -> (s0, 128, 2816)> : !torch.vtensor<[?,128,2816],bf16>
    %6 = torch.aten.mul.Tensor %4, %5 : !torch.vtensor<[?,128,2816],bf16>, !torch.vtensor<[?,128,2816],bf16> -> !torch.vtensor<[?,128,2816],bf16>
    torch.bind_symbolic_shape %6, [%0], affine_map<()[s0] -> (s0, 128, 2816)> : !torch.vtensor<[?,128,2816],bf16>
    %none_1 = torch.constant.none
    %7 = torch.aten.linear %6, %arg4, %none_1 : !torch.vtensor<[?,128,2816],bf16>, !torch.vtensor<[1024,2816],bf16>, !torch.none -> !torch.vtensor<[?,128,1024],bf16>
    torch.bind_symbolic_shape %7, [%0], affine_map<()[s0] -> (s0, 128, 1024)> : !torch.vtensor<[?,128,1024],bf16>
    %int1 = torch.constant.int 1
    %8 = torch.aten.add.Tensor %arg0, %7, %int1 : !torch.vtensor<[?,128,1024],bf16>, !torch.vtensor<[?,128,1024],bf16>, !torch.int -> !torch.vtensor<[?,128,1024],bf16>
    torch.bind_symbolic_shape %8, [%0], affine_map<()[s0] -> (s0, 128, 1024)> : !torch.vtensor<[?,128,1024],bf16>
    return %8 : !torch.vtensor<[?,128,1024],bf16>
  }
}
