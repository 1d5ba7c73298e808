// The gradients of `maximum` as PyTorch writes them: LLVM 22 can't generate a
// broadcast of four f16 for AVX-512.
// RUN: fuse-compile %s --target=cpu:x86-64-v4 -o %t
// RUN: fuse-run %s --target=cpu --check
module {
  func.func @main(%arg0: !torch.vtensor<[5,1],f16>, %arg1: !torch.vtensor<[5],f16>, %arg2: !torch.vtensor<[5,5],f16>) -> (!torch.vtensor<[5,1],f16>, !torch.vtensor<[5],f16>) {
    %0 = torch.aten.detach %arg0 : !torch.vtensor<[5,1],f16> -> !torch.vtensor<[5,1],f16>
    %1 = torch.aten.detach %arg1 : !torch.vtensor<[5],f16> -> !torch.vtensor<[5],f16>
    %2 = torch.aten.maximum %0, %1 : !torch.vtensor<[5,1],f16>, !torch.vtensor<[5],f16> -> !torch.vtensor<[5,5],f16>
    %3 = torch.constant.int 2
    %4 = torch.aten.div.Scalar %arg2, %3 : !torch.vtensor<[5,5],f16>, !torch.int -> !torch.vtensor<[5,5],f16>
    %5 = torch.aten.eq.Tensor %0, %1 : !torch.vtensor<[5,1],f16>, !torch.vtensor<[5],f16> -> !torch.vtensor<[5,5],i1>
    %6 = torch.aten.where.self %5, %4, %arg2 : !torch.vtensor<[5,5],i1>, !torch.vtensor<[5,5],f16>, !torch.vtensor<[5,5],f16> -> !torch.vtensor<[5,5],f16>
    %7 = torch.aten.gt.Tensor %0, %1 : !torch.vtensor<[5,1],f16>, !torch.vtensor<[5],f16> -> !torch.vtensor<[5,5],i1>
    %8 = torch.constant.int 0
    %9 = torch.aten.masked_fill.Scalar %6, %7, %8 : !torch.vtensor<[5,5],f16>, !torch.vtensor<[5,5],i1>, !torch.int -> !torch.vtensor<[5,5],f16>
    %10 = torch.aten.div.Scalar %arg2, %3 : !torch.vtensor<[5,5],f16>, !torch.int -> !torch.vtensor<[5,5],f16>
    %11 = torch.aten.eq.Tensor %0, %1 : !torch.vtensor<[5,1],f16>, !torch.vtensor<[5],f16> -> !torch.vtensor<[5,5],i1>
    %12 = torch.aten.where.self %11, %10, %arg2 : !torch.vtensor<[5,5],i1>, !torch.vtensor<[5,5],f16>, !torch.vtensor<[5,5],f16> -> !torch.vtensor<[5,5],f16>
    %13 = torch.aten.lt.Tensor %0, %1 : !torch.vtensor<[5,1],f16>, !torch.vtensor<[5],f16> -> !torch.vtensor<[5,5],i1>
    %14 = torch.aten.masked_fill.Scalar %12, %13, %8 : !torch.vtensor<[5,5],f16>, !torch.vtensor<[5,5],i1>, !torch.int -> !torch.vtensor<[5,5],f16>
    %15 = torch.constant.int 1
    %16 = torch.prim.ListConstruct %15 : (!torch.int) -> !torch.list<int>
    %17 = torch.constant.bool true
    %18 = torch.constant.none
    %19 = torch.aten.sum.dim_IntList %14, %16, %17, %18 : !torch.vtensor<[5,5],f16>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[5,1],f16>
    %20 = torch.prim.ListConstruct %8 : (!torch.int) -> !torch.list<int>
    %21 = torch.aten.sum.dim_IntList %9, %20, %17, %18 : !torch.vtensor<[5,5],f16>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,5],f16>
    %22 = torch.constant.int 5
    %23 = torch.prim.ListConstruct %22 : (!torch.int) -> !torch.list<int>
    %24 = torch.aten.view %21, %23 : !torch.vtensor<[1,5],f16>, !torch.list<int> -> !torch.vtensor<[5],f16>
    return %19, %24 : !torch.vtensor<[5,1],f16>, !torch.vtensor<[5],f16>
  }
}
