// How kernels read and write through layout operations.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cpu --canonicalize --cse --split-input-file | FileCheck %s

// Every second column: elements one by one, no vector load.
// CHECK-LABEL: func.func @step(
// CHECK: scf.for %{{.+}} =
// CHECK: scf.for %[[COLUMN:.+]] =
// CHECK: %[[FIRST:.+]] = arith.muli %[[COLUMN]], %c2_i64
// CHECK-COUNT-32: llvm.load %{{.+}} : !llvm.ptr -> f32
// CHECK: vector.from_elements
// CHECK: llvm.store %{{.+}} : vector<32xf32>
fuseops.fusible @f(%x: tensor<?x128xf32>) -> tensor<?x64xf32>
forward {
  %y = fuseops.group @step pointwise (%a = %x) : (tensor<?x128xf32>) -> tensor<?x64xf32> {
    %s = fuseops.slice %a dim(1) offset(0) step(2) : tensor<?x128xf32> -> tensor<?x64xf32>
    %r = fuseops.relu %s : tensor<?x64xf32>
    fuseops.yield %r : tensor<?x64xf32>
  }
  fuseops.return %y : tensor<?x64xf32>
}

// -----

// Rows in another order: the row's digits by the symbolic size, vectors of
// columns as they are.
// CHECK-LABEL: func.func @read(
// CHECK-SAME: %{{.+}}: !llvm.ptr, %[[ROWS:[^:]+]]: i64
// CHECK: %[[SYMBOL:.+]] = arith.divui %[[ROWS]], %c4_i64
// CHECK-DAG: arith.remui %{{.+}}, %[[SYMBOL]]
// CHECK-DAG: arith.divui %{{.+}}, %[[SYMBOL]]
// CHECK: llvm.load %{{.+}} : !llvm.ptr -> vector<32xf32>
fuseops.fusible @f(%x: tensor<?x4x64xf32>) -> tensor<4x?x64xf32>
forward {
  %y = fuseops.group @read pointwise (%a = %x) : (tensor<?x4x64xf32>) -> tensor<4x?x64xf32> {
    %p = fuseops.permute %a order[1, 0, 2] : tensor<?x4x64xf32> -> tensor<4x?x64xf32>
    %r = fuseops.relu %p : tensor<4x?x64xf32>
    fuseops.yield %r : tensor<4x?x64xf32>
  }
  fuseops.return %y : tensor<4x?x64xf32>
}

// -----

// A computed value written to its permuted place.
// CHECK-LABEL: func.func @write(
// CHECK: llvm.load %{{.+}} : !llvm.ptr -> vector<16xf32>
// CHECK-COUNT-16: llvm.store %{{.+}} : f32
fuseops.fusible @f(%x: tensor<?x4x16xf32>) -> tensor<?x16x4xf32>
forward {
  %y = fuseops.group @write pointwise (%a = %x) : (tensor<?x4x16xf32>) -> tensor<?x16x4xf32> {
    %r = fuseops.relu %a : tensor<?x4x16xf32>
    %p = fuseops.permute %r order[0, 2, 1] : tensor<?x4x16xf32> -> tensor<?x16x4xf32>
    fuseops.yield %p : tensor<?x16x4xf32>
  }
  fuseops.return %y : tensor<?x16x4xf32>
}

// -----

// Inputs of two sizes: both are read, at an index within each.
// CHECK-LABEL: func.func @joined(
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: %[[REACHED:.+]] = arith.cmpi sge
// CHECK: arith.select %[[REACHED]], %{{.+}}, %{{.+}} : vector<16xf32>
fuseops.fusible @f(%x: tensor<?x2x16xf32>, %y: tensor<?x3x16xf32>) -> tensor<?x5x16xf32>
forward {
  %z = fuseops.group @joined pointwise (%a = %x, %b = %y) : (tensor<?x2x16xf32>, tensor<?x3x16xf32>) -> tensor<?x5x16xf32> {
    %c = fuseops.concat %a, %b dim(1) : (tensor<?x2x16xf32>, tensor<?x3x16xf32>) -> tensor<?x5x16xf32>
    %r = fuseops.relu %c : tensor<?x5x16xf32>
    fuseops.yield %r : tensor<?x5x16xf32>
  }
  fuseops.return %z : tensor<?x5x16xf32>
}

// -----

// A kernel moves the slices that it reads, not all of their input, unless it
// skips elements or reads the input elsewhere too. Op by op views move nothing:
// relu reads 64 bytes a row and writes 64.
// CHECK-LABEL: fuseops.fusible @bytes(
// CHECK: @slice(%{{.+}}) {bytes = array<i64: 0, 128>, {{.*}}unfused_bytes = array<i64: 0, 128>}
// CHECK: @both(%{{.+}}) {bytes = array<i64: 0, 192>, {{.*}}unfused_bytes = array<i64: 0, 192>}
// CHECK: @every_second(%{{.+}}) {bytes = array<i64: 0, 320>, {{.*}}unfused_bytes = array<i64: 0, 128>}
// CHECK: @whole(%{{.+}}) {bytes = array<i64: 0, 576>, {{.*}}unfused_bytes = array<i64: 0, 640>}
fuseops.fusible @bytes(%x: tensor<?x64xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x64xf32>)
forward {
  %a = fuseops.group @slice pointwise (%i = %x) : (tensor<?x64xf32>) -> tensor<?x16xf32> {
    %s = fuseops.slice %i dim(1) offset(16) : tensor<?x64xf32> -> tensor<?x16xf32>
    %r = fuseops.relu %s : tensor<?x16xf32>
    fuseops.yield %r : tensor<?x16xf32>
  }
  %b = fuseops.group @both pointwise (%i = %x) : (tensor<?x64xf32>) -> tensor<?x16xf32> {
    %s = fuseops.slice %i dim(1) offset(0) : tensor<?x64xf32> -> tensor<?x16xf32>
    %t = fuseops.slice %i dim(1) offset(48) : tensor<?x64xf32> -> tensor<?x16xf32>
    %r = fuseops.add %s, %t : tensor<?x16xf32>, tensor<?x16xf32> -> tensor<?x16xf32>
    fuseops.yield %r : tensor<?x16xf32>
  }
  %c = fuseops.group @every_second pointwise (%i = %x) : (tensor<?x64xf32>) -> tensor<?x16xf32> {
    %s = fuseops.slice %i dim(1) offset(0) step(4) : tensor<?x64xf32> -> tensor<?x16xf32>
    %r = fuseops.relu %s : tensor<?x16xf32>
    fuseops.yield %r : tensor<?x16xf32>
  }
  %d:2 = fuseops.group @whole pointwise (%i = %x) : (tensor<?x64xf32>) -> (tensor<?x16xf32>, tensor<?x64xf32>) {
    %s = fuseops.slice %i dim(1) offset(0) : tensor<?x64xf32> -> tensor<?x16xf32>
    %r = fuseops.relu %s : tensor<?x16xf32>
    %t = fuseops.relu %i : tensor<?x64xf32>
    fuseops.yield %r, %t : tensor<?x16xf32>, tensor<?x64xf32>
  }
  fuseops.return %a, %b, %c, %d#0, %d#1 : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x64xf32>
}
