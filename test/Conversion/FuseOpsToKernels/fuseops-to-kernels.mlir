// What the pass does with groups; the kernels are in the other files.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cpu | FileCheck %s
// RUN: fuse-opt %s --convert-fuseops-to-kernels="target=cpu round-intermediates" | FileCheck %s --check-prefix=ROUND

// The contraction is a library call of the runtime: it stays, bare.
// CHECK-LABEL: fuseops.fusible @library(
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[Y:.+]] = fuseops.linear %{{.+}}, %{{.+}} : (tensor<?x8xbf16>, tensor<4x8xbf16>) -> tensor<?x4xbf16>
// CHECK-NEXT: fuseops.return %[[Y]]
fuseops.fusible @library(%x: tensor<?x8xbf16>, %w: tensor<4x8xbf16>) -> tensor<?x4xbf16>
forward {
  %y = fuseops.group @forward_0 library (%a = %x, %b = %w) : (tensor<?x8xbf16>, tensor<4x8xbf16>) -> tensor<?x4xbf16> {
    %z = fuseops.linear %a, %b : (tensor<?x8xbf16>, tensor<4x8xbf16>) -> tensor<?x4xbf16>
    fuseops.yield %z : tensor<?x4xbf16>
  }
  fuseops.return %y : tensor<?x4xbf16>
}

// Reshapes between groups stay: the runtime records aliases.
// CHECK-LABEL: fuseops.fusible @reshapes(
// CHECK: fuseops.reshape
// CHECK-NEXT: fuseops.launch @kernels::@forward_0(
// CHECK-NEXT: fuseops.reshape
fuseops.fusible @reshapes(%x: tensor<6x2x4xf32>) -> tensor<6x2x4xf32>
forward {
  %0 = fuseops.reshape %x : tensor<6x2x4xf32> -> tensor<12x4xf32>
  %1 = fuseops.group @forward_0 pointwise (%a = %0) : (tensor<12x4xf32>) -> tensor<12x4xf32> {
    %r = fuseops.relu %a : tensor<12x4xf32>
    fuseops.yield %r : tensor<12x4xf32>
  }
  %2 = fuseops.reshape %1 : tensor<12x4xf32> -> tensor<6x2x4xf32>
  fuseops.return %2 : tensor<6x2x4xf32>
}

// Each program of a module numbers its kernels from 0: the second gets its
// program's name.
// CHECK-LABEL: fuseops.fusible @same_kernel_name(
// CHECK: fuseops.launch @kernels::@same_kernel_name_forward_0(
// CHECK: backward
// CHECK: fuseops.launch @kernels::@backward_0(
fuseops.fusible @same_kernel_name(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %0 = fuseops.group @forward_0 pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = fuseops.relu %a : tensor<4x8xf32>
    fuseops.yield %r : tensor<4x8xf32>
  }
  fuseops.return %0 : tensor<4x8xf32>
}
backward (%dy: tensor<4x8xf32>) {
  %0 = fuseops.group @backward_0 pointwise (%a = %dy) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %r = fuseops.relu %a : tensor<4x8xf32>
    fuseops.yield %r : tensor<4x8xf32>
  }
  fuseops.return %0 : tensor<4x8xf32>
}

// f32 inside, or bf16's values where they are asked for; a cast always rounds.
fuseops.fusible @roundings(%x: tensor<4x16xbf16>) -> tensor<4x16xf32>
forward {
  %0 = fuseops.group @roundings pointwise (%a = %x) : (tensor<4x16xbf16>) -> tensor<4x16xf32> {
    %r = fuseops.scale %a by(3.0) : tensor<4x16xbf16>
    %s = fuseops.scale %r by(5.0) : tensor<4x16xbf16>
    %c = fuseops.cast %s : tensor<4x16xbf16> -> tensor<4x16xf32>
    fuseops.yield %c : tensor<4x16xf32>
  }
  fuseops.return %0 : tensor<4x16xf32>
}

fuseops.fusible @cast_rounds(%x: tensor<4x16xf32>) -> tensor<4x16xf32>
forward {
  %0 = fuseops.group @cast_rounds pointwise (%a = %x) : (tensor<4x16xf32>) -> tensor<4x16xf32> {
    %r = fuseops.cast %a : tensor<4x16xf32> -> tensor<4x16xbf16>
    %c = fuseops.cast %r : tensor<4x16xbf16> -> tensor<4x16xf32>
    fuseops.yield %c : tensor<4x16xf32>
  }
  fuseops.return %0 : tensor<4x16xf32>
}

// CHECK: module @kernels {
// CHECK: func.func @roundings(
// CHECK-NOT: arith.truncf
// CHECK: func.func @cast_rounds(
// CHECK: arith.truncf %{{.+}} : vector<16xf32> to vector<16xbf16>
// CHECK-NEXT: arith.extf %{{.+}} : vector<16xbf16> to vector<16xf32>
// ROUND: func.func @roundings(
// ROUND-COUNT-2: arith.truncf %{{.+}} : vector<16xf32> to vector<16xbf16>
// ROUND-NOT: arith.truncf
// ROUND: func.func @cast_rounds(
