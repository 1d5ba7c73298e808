// Small launches as parts of one: the scales of two tensors and their history,
// beside sums over rows of many columns and a vector that has nothing to do
// with them. `test/python/test_merged_launches.py` runs what CUDA gets of it.
// RUN: fuse-run %s --size 1 --check
// RUN: fuse-run %s --size 7 --check
// RUN: fuse-run %s --size 130 --check
fuseops.fusible @scales(%x: tensor<?x320xf32>, %y: tensor<?x24xf32>, %scale: tensor<2xf32>, %history: tensor<40x2xf32>, %v: tensor<33xf32>) -> (tensor<?x320xf32>, tensor<320xf32>, tensor<2xf32>, tensor<40x2xf32>, tensor<2xf32>, tensor<f32>, tensor<33xf32>)
attributes {frozen_results = array<i64: 0, 1, 2, 3, 4, 5, 6>}
forward {
  // What a kernel reads is computed by a launch before it.
  %0 = fuseops.amax %y : tensor<?x24xf32> -> tensor<f32>
  %now = fuseops.compute_scale %0 format(f8E4M3FN) : tensor<f32>
  %scaled = fuseops.mul %x, %now : tensor<?x320xf32>, tensor<f32> -> tensor<?x320xf32>
  %sum = fuseops.reduce_rows sum %x : tensor<?x320xf32> -> tensor<320xf32>
  %1 = fuseops.amax %x : tensor<?x320xf32> -> tensor<f32>
  %2 = fuseops.reshape %0 : tensor<f32> -> tensor<1xf32>
  %3 = fuseops.reshape %1 : tensor<f32> -> tensor<1xf32>
  %amax = fuseops.concat %2, %3 dim(0) : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  %next, %rolled = fuseops.update_scale %scale, %history, %amax format(f8E4M3FN) : tensor<2xf32>, tensor<40x2xf32>
  %old = fuseops.silu %scale : tensor<2xf32>
  %w = fuseops.silu %v : tensor<33xf32>
  fuseops.return %scaled, %sum, %next, %rolled, %old, %now, %w : tensor<?x320xf32>, tensor<320xf32>, tensor<2xf32>, tensor<40x2xf32>, tensor<2xf32>, tensor<f32>, tensor<33xf32>
}
