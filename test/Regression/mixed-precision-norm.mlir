// A norm's statistics are f32 (f64 for an f64 input) whatever its factors are,
// also in the reference, and a saved one keeps its shape behind a reshape.
// RUN: fuse-run %s --check | FileCheck %s --check-prefix=OUT

// OUT: check: ok
fuseops.fusible @f(%x: tensor<1x79xf16>, %g: tensor<79xf32>, %b: tensor<79xf64>) -> tensor<79xf32>
forward {
  %0 = fuseops.reshape %x : tensor<1x79xf16> -> tensor<79xf16>
  %1, %r = fuseops.rms_norm %0 gamma(%g) eps(0.01) : (tensor<79xf16>, tensor<79xf32>) -> (tensor<79xf16>, tensor<1xf32>)
  %2, %m, %s = fuseops.layer_norm %1 beta(%b) eps(0.01) : (tensor<79xf16>, tensor<79xf64>) -> (tensor<79xf16>, tensor<1xf32>, tensor<1xf32>)
  %3 = fuseops.add %1, %2 : tensor<79xf16>, tensor<79xf16> -> tensor<79xf32>
  fuseops.return %3 : tensor<79xf32>
}
