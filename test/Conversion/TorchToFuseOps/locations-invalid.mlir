// One error for each operation, at its place, with a note where the user's own
// program calls it. What uses a failed result stays silent.
// RUN: not fuse-opt %s --convert-torch-to-fuseops 2>&1 | FileCheck %s
#linear = loc("site-packages/torch/nn/modules/linear.py":134:0)
#block = loc("model.py":12:8)
#main = loc("model.py":40:2)

// CHECK: site-packages/torch/nn/modules/linear.py:134:0: error: cannot convert `torch.aten.conv2d`: not a fusible operation
// CHECK: model.py:12:8: note: called here in the user's program
// CHECK: model.py:13:4: error: cannot convert `torch.demo.f`: not a fusible operation
// CHECK-NOT: note: called here
// CHECK-NOT: torch.aten.relu
// CHECK: model.py:15:4: error: cannot convert `torch.aten.topk`: not a fusible operation
// CHECK-NOT: error:
func.func @main(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %0 = torch.aten.conv2d %x : !torch.vtensor<[4,64],f32> -> !torch.vtensor<[4,64],f32> loc(callsite(#linear at callsite(#block at #main)))
  %1 = torch.operator "torch.demo.f"(%x) : (!torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> loc("model.py":13:4)
  %2 = torch.aten.relu %1 : !torch.vtensor<[4,64],f32> -> !torch.vtensor<[4,64],f32> loc("model.py":14:4)
  %3 = torch.aten.topk %2 : !torch.vtensor<[4,64],f32> -> !torch.vtensor<[4,64],f32> loc("model.py":15:4)
  %int1 = torch.constant.int 1
  %4 = torch.aten.add.Tensor %0, %3, %int1 : !torch.vtensor<[4,64],f32>, !torch.vtensor<[4,64],f32>, !torch.int -> !torch.vtensor<[4,64],f32>
  return %4 : !torch.vtensor<[4,64],f32>
}
