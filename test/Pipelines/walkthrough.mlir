// The program that docs/Architecture.md follows through the phases. Each
// phase's IR is there as the compiler prints it, and reads back here.
// RUN: fuse-compile %s --target=cpu --compile-to=input | fuse-opt -o %t.input
// RUN: fuse-compile %s --target=cpu --compile-to=differentiate | fuse-opt -o %t.differentiate
// RUN: fuse-compile %s --target=cpu --compile-to=quantize | fuse-opt -o %t.quantize
// RUN: fuse-compile %s --target=cpu --compile-to=saved | fuse-opt -o %t.saved
// RUN: fuse-compile %s --target=cpu --compile-to=fusion | fuse-opt | FileCheck %s
// RUN: fuse-compile %s --target=cpu --compile-to=lowering | fuse-opt -o %t.lowering
// RUN: fuse-compile %s --target=cuda:sm_90a --compile-to=lowering | fuse-opt -o %t.cuda
// RUN: fuse-run %s --target=cpu --size 33 --check

// CHECK-LABEL: fuseops.fusible @bias_gelu
// CHECK: forward
// CHECK: fuseops.group
// CHECK: fuseops.gelu
// CHECK: backward
// CHECK: fuseops.group
// CHECK: fuseops.gelu_grad
fuseops.fusible @bias_gelu(%x: tensor<?x256xbf16>, %b: tensor<256xbf16>) -> tensor<?x256xbf16>
forward {
  %z = fuseops.bias %x, %b : tensor<?x256xbf16>, tensor<256xbf16>
  %y = fuseops.gelu %z approximate(tanh) : tensor<?x256xbf16>
  fuseops.return %y : tensor<?x256xbf16>
}
