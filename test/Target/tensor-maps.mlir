// A kernel that copies boxes by tensor maps, from a plan that was edited. Each map
// is 128 bytes of the parameters, read where they lie: no local copy of it.
// RUN: fuse-compile %s --target=cuda:sm_90a --emit=ptx -o - | FileCheck %s
// RUN: fuse-compile %s --target=cuda:sm_90a -o %t.fuseops

// CHECK: .visible .entry copy(
// CHECK-NEXT: .param .u64 .ptr .align 1 copy_param_0,
// CHECK-NEXT: .param .u64 .ptr .align 1 copy_param_1,
// CHECK-NEXT: .param .align 64 .b8 copy_param_2[128],
// CHECK-NEXT: .param .align 64 .b8 copy_param_3[128],
// CHECK-NEXT: .param .u64 copy_param_4,
// CHECK-NEXT: .param .u64 copy_param_5
// CHECK-NOT: .local
// CHECK: .reqnctapercluster 1
// CHECK-NOT: .local
// CHECK: mov.b64 %[[MAP:rd[0-9]+]], copy_param_2;
// CHECK-NOT: .local
// CHECK: cvta.param.u64 %[[SOURCE:rd[0-9]+]], %[[MAP]];
// CHECK-NOT: .local
// CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes {{.*}}[%[[SOURCE]], {
// CHECK-NOT: .local
// CHECK: cp.async.bulk.tensor.2d.global.shared::cta
// CHECK-NOT: .local
fuseops.fusible @f(%x: tensor<?x64xbf16> {fuseops.frozen}) -> tensor<?x64xbf16>
attributes {frozen_results = array<i64: 0>}
forward {
  %y = fuseops.launch @kernels::@copy(%x) {
    bytes = array<i64: 0, 256>, kernel_template = #fuseops<kernel_template pointwise>,
    maps = [#fuseops.tensor_map<tensor = 0, columns = [64], rows = [0, 1], pitch = [64], box_columns = 64, box_rows = 8, swizzle = 128>,
            #fuseops.tensor_map<tensor = 1, columns = [64], rows = [0, 1], pitch = [64], box_columns = 64, box_rows = 8, swizzle = 128>],
    max_workers = 1048576 : i64, members = ["copy"], rows = array<i64: 0, 1>, rows_per_worker = 8 : i64,
    shared_bytes = 2048 : i64, threads_x = 32 : i64, unfused_bytes = array<i64: 0, 256>}
    : (tensor<?x64xbf16>) -> tensor<?x64xbf16>
  fuseops.return %y : tensor<?x64xbf16>
}
module @kernels {
  llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  func.func @copy(%x: !llvm.ptr, %y: !llvm.ptr, %source: !llvm.ptr {fuseops.tensor_map},
                  %target: !llvm.ptr {fuseops.tensor_map}, %rows: i64, %count: i64)
      attributes {fuseops.block = array<i32: 32, 1, 1>, fuseops.cluster = array<i32: 1, 1, 1>} {
    %box = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %barrier = llvm.getelementptr %box[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %eight = arith.constant 8 : i32
    %bytes = arith.constant 1024 : i32
    %ticks = arith.constant 10000000 : i32
    %row = arith.muli %block, %eight : i32
    %isFirst = arith.cmpi eq, %thread, %zero : i32
    scf.if %isFirst {
      nvvm.mbarrier.init %barrier, %one : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
      nvvm.mbarrier.arrive.expect_tx %barrier, %bytes : !llvm.ptr<3>, i32
      %remote = llvm.addrspacecast %box : !llvm.ptr<3> to !llvm.ptr<7>
      nvvm.cp.async.bulk.tensor.shared.cluster.global %remote, %source, %barrier, box[%zero, %row] : !llvm.ptr<7>, !llvm.ptr
      nvvm.mbarrier.try_wait.parity %barrier, %zero, %ticks : !llvm.ptr<3>, i32, i32
      nvvm.cp.async.bulk.tensor.global.shared.cta %target, %box, box[%zero, %row] : !llvm.ptr, !llvm.ptr<3>
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    return
  }
}
