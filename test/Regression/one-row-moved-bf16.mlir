// LLVM's vectorizer took vectors of bf16 apart that were only moved, and x86 made calls
// into compiler-rt of it; what moves them moves 16 bits.
// RUN: fuse-run %s --check | FileCheck %s
// RUN: fuse-run %s --target=cpu:x86-64-v3 --check | FileCheck %s

// CHECK: check: ok
fuseops.fusible @f(%x: tensor<1x32xbf16>, %c: tensor<1x1xi64>) -> (tensor<1x32xbf16>, tensor<1x1xf32>)
attributes {frozen_results = array<i64: 1>}
forward {
  %y = fuseops.cast %x : tensor<1x32xbf16> -> tensor<1x32xbf16>
  %s = fuseops.pointwise (%v = %x) : (tensor<1x32xbf16>) -> tensor<1x32xbf16> {
    %r = math.sin %v : f32
    fuseops.yield %r : f32
  }
  %loss, %lse = fuseops.cross_entropy %s, %c ignore_index(-100) label_smoothing(1.0e-01) : tensor<1x32xbf16>, tensor<1x1xi64> -> (tensor<1x1xf32>, tensor<1x1xf32>)
  fuseops.return %y, %lse : tensor<1x32xbf16>, tensor<1x1xf32>
}
