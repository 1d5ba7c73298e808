// PyTorch compares what it has stored: a bf16 value is equal to its own maximum also
// where one kernel computes both, and keeps the value in f32.
// RUN: fuse-run %s --check

module {
  func.func @mask(%a: !torch.vtensor<[33,64],bf16>, %b: !torch.vtensor<[33,64],bf16>) -> (!torch.vtensor<[33,64],i1>, !torch.vtensor<[33,1],bf16>) {
    %one = torch.constant.int 1
    %true = torch.constant.bool true
    %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %v = torch.aten.add.Tensor %a, %b, %one : !torch.vtensor<[33,64],bf16>, !torch.vtensor<[33,64],bf16>, !torch.int -> !torch.vtensor<[33,64],bf16>
    %m = torch.aten.amax %v, %dims, %true : !torch.vtensor<[33,64],bf16>, !torch.list<int>, !torch.bool -> !torch.vtensor<[33,1],bf16>
    %e = torch.aten.eq.Tensor %v, %m : !torch.vtensor<[33,64],bf16>, !torch.vtensor<[33,1],bf16> -> !torch.vtensor<[33,64],i1>
    return %e, %m : !torch.vtensor<[33,64],i1>, !torch.vtensor<[33,1],bf16>
  }
}
