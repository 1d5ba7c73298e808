// RUN: fuse-opt %s | fuse-opt | FileCheck %s

// CHECK: !torch.vtensor, !torch.vtensor<*,f32>, !torch.vtensor<[],unk>, !torch.vtensor<[?,0,3],bf16>
func.func private @tensors(!torch.vtensor, !torch.vtensor<*,f32>, !torch.vtensor<[],unk>, !torch.vtensor<[?,0,3],bf16>)
// CHECK: !torch.tensor, !torch.tensor<[?],si64>, !torch.tensor<[2],complex<f32>>, !torch.tensor<[2],ui8>
func.func private @mutable(!torch.tensor, !torch.tensor<[?],si64>, !torch.tensor<[2],complex<f32>>, !torch.tensor<[2],ui8>)
// CHECK: !torch.vtensor<[1],f8E4M3FN>, !torch.vtensor<[1],f8E5M2>, !torch.vtensor<[1],f8E8M0FNU>, !torch.vtensor<[1],i1>
func.func private @dtypes(!torch.vtensor<[1],f8E4M3FN>, !torch.vtensor<[1],f8E5M2>, !torch.vtensor<[1],f8E8M0FNU>, !torch.vtensor<[1],i1>)
// CHECK: !torch.int, !torch.float, !torch.bool, !torch.str, !torch.none, !torch.number, !torch.any, !torch.Device, !torch.Generator
func.func private @scalars(!torch.int, !torch.float, !torch.bool, !torch.str, !torch.none, !torch.number, !torch.any, !torch.Device, !torch.Generator)
// CHECK: !torch.list<optional<vtensor<[2],f32>>>, !torch.tuple<int, list<vtensor>>, !torch.tuple<>, !torch.union<float, none>, !torch.dict<str, optional<int>>, !torch.list<f32>
func.func private @nested(!torch.list<optional<vtensor<[2],f32>>>, !torch.tuple<int, list<vtensor>>, !torch.tuple<>, !torch.union<float, none>, !torch.dict<str, !torch.optional<int>>, !torch.list<f32>)
