// Row kernels with the schedules that are not chosen unless they are measured or
// written down: rings, reading ahead, loops of more visits, streaming stores,
// blocks that share a row. On the CPU they say nothing; scripts/gpu_test runs
// them on the GPU. Few workers, so that each has many rows; the last vectors of a
// row are not full.
// RUN: fuse-run %s --size 1 --check
// RUN: fuse-run %s --size 67 --check
fuseops.fusible @schedules(%x: tensor<?x1032xbf16> {fuseops.frozen}, %y: tensor<?x1032xbf16> {fuseops.frozen}, %f: tensor<?x1032xf32> {fuseops.frozen}, %s: tensor<?x1xf32> {fuseops.frozen}, %h: tensor<?x1xbf16> {fuseops.frozen}, %g: tensor<1032xbf16> {fuseops.frozen}, %b: tensor<1032xbf16> {fuseops.frozen})
    -> (tensor<?x1032xbf16>, tensor<?x1xf32>, tensor<?x1032xbf16>, tensor<?x1032xbf16>, tensor<?x1032xbf16>, tensor<?x1032xf32>, tensor<?x1032xbf16>, tensor<?x1032xbf16>, tensor<1032xbf16>, tensor<?x1032xbf16>, tensor<1032xbf16>, tensor<?x1032xbf16>, tensor<1032xbf16>, tensor<?x1032xbf16>, tensor<?x1032xf32>, tensor<?x1032xf32>, tensor<?x1032xbf16>, tensor<1032xbf16>)
forward {
  %ahead:2 = fuseops.group @ahead row schedule {prefetch = 1 : i64, rows = 1 : i64, streams = 1 : i64, threads = 128 : i64, workers = 4 : i64} (%a = %x, %c = %g) : (tensor<?x1032xbf16>, tensor<1032xbf16>) -> (tensor<?x1032xbf16>, tensor<?x1xf32>) {
    %n, %r = fuseops.rms_norm %a gamma(%c) eps(1.0e-6) : (tensor<?x1032xbf16>, tensor<1032xbf16>) -> (tensor<?x1032xbf16>, tensor<?x1xf32>)
    fuseops.yield %n, %r : tensor<?x1032xbf16>, tensor<?x1xf32>
  }
  %one = fuseops.group @one_a_block row schedule {prefetch = 1 : i64, residents = 4 : i64, rows = 1 : i64, threads = 256 : i64, workers = 1048576 : i64} (%a = %x, %c = %g, %d = %b) : (tensor<?x1032xbf16>, tensor<1032xbf16>, tensor<1032xbf16>) -> tensor<?x1032xbf16> {
    %n, %m, %r = fuseops.layer_norm %a gamma(%c) beta(%d) eps(1.0e-5) : (tensor<?x1032xbf16>, tensor<1032xbf16>, tensor<1032xbf16>) -> (tensor<?x1032xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
    fuseops.yield %n : tensor<?x1032xbf16>
  }
  %ring = fuseops.group @ring row schedule {prefetch = 1 : i64, rows = 1 : i64, stages = 3 : i64, threads = 64 : i64, workers = 4 : i64} (%a = %x, %c = %g, %d = %b) : (tensor<?x1032xbf16>, tensor<1032xbf16>, tensor<1032xbf16>) -> tensor<?x1032xbf16> {
    %n, %m, %r = fuseops.layer_norm %a gamma(%c) beta(%d) eps(1.0e-5) : (tensor<?x1032xbf16>, tensor<1032xbf16>, tensor<1032xbf16>) -> (tensor<?x1032xbf16>, tensor<?x1xf32>, tensor<?x1xf32>)
    fuseops.yield %n : tensor<?x1032xbf16>
  }
  %short = fuseops.group @one_slot row schedule {rows = 1 : i64, stages = 1 : i64, threads = 128 : i64, workers = 3 : i64} (%a = %x, %c = %y) : (tensor<?x1032xbf16>, tensor<?x1032xbf16>) -> tensor<?x1032xbf16> {
    %t = fuseops.add %a, %c : tensor<?x1032xbf16>, tensor<?x1032xbf16> -> tensor<?x1032xbf16>
    %n = fuseops.softmax %t : tensor<?x1032xbf16> -> tensor<?x1032xbf16>
    fuseops.yield %n : tensor<?x1032xbf16>
  }
  // Places of 32 bytes, and of 4 for each row.
  %wide = fuseops.group @wide row schedule {rows = 1 : i64, stages = 2 : i64, threads = 64 : i64, workers = 4 : i64} (%a = %f, %c = %s, %d = %h) : (tensor<?x1032xf32>, tensor<?x1xf32>, tensor<?x1xbf16>) -> tensor<?x1032xf32> {
    %t = fuseops.mul %a, %c : tensor<?x1032xf32>, tensor<?x1xf32> -> tensor<?x1032xf32>
    %u = fuseops.mul %t, %d : tensor<?x1032xf32>, tensor<?x1xbf16> -> tensor<?x1032xf32>
    %n = fuseops.softmax %u : tensor<?x1032xf32> -> tensor<?x1032xf32>
    fuseops.yield %n : tensor<?x1032xf32>
  }
  // Several rows a block, the last of which are not all there.
  %rows = fuseops.group @rows row schedule {rows = 4 : i64, stages = 2 : i64, threads = 32 : i64, workers = 3 : i64} (%a = %x) : (tensor<?x1032xbf16>) -> tensor<?x1032xbf16> {
    %n, %r = fuseops.rms_norm %a eps(1.0e-6) : (tensor<?x1032xbf16>) -> (tensor<?x1032xbf16>, tensor<?x1xf32>)
    fuseops.yield %n : tensor<?x1032xbf16>
  }
  %back:2 = fuseops.group @backward row_column schedule {prefetch = 1 : i64, rows = 1 : i64, stages = 2 : i64, threads = 128 : i64, workers = 4 : i64} (%a = %y, %c = %x, %d = %s, %e = %g) : (tensor<?x1032xbf16>, tensor<?x1032xbf16>, tensor<?x1xf32>, tensor<1032xbf16>) -> (tensor<?x1032xbf16>, tensor<1032xbf16>) {
    %n, %r = fuseops.rms_norm_grad %a, %c, %d gamma(%e) : (tensor<?x1032xbf16>, tensor<?x1032xbf16>, tensor<?x1xf32>, tensor<1032xbf16>) -> (tensor<?x1032xbf16>, tensor<1032xbf16>)
    fuseops.yield %n, %r : tensor<?x1032xbf16>, tensor<1032xbf16>
  }
  %tiles:2 = fuseops.group @tiles row_column schedule {stages = 2 : i64, tiles = 5 : i64, workers = 10 : i64} (%a = %x, %c = %y) : (tensor<?x1032xbf16>, tensor<?x1032xbf16>) -> (tensor<?x1032xbf16>, tensor<1032xbf16>) {
    %n = fuseops.gelu_grad %a, %c approximate(tanh) : tensor<?x1032xbf16>
    %r = fuseops.reduce_rows sum %n : tensor<?x1032xbf16> -> tensor<1032xbf16>
    fuseops.yield %n, %r : tensor<?x1032xbf16>, tensor<1032xbf16>
  }
  %tiles_ahead:2 = fuseops.group @tiles_ahead row_column schedule {prefetch = 1 : i64, tiles = 5 : i64, workers = 10 : i64} (%a = %x, %c = %y) : (tensor<?x1032xbf16>, tensor<?x1032xbf16>) -> (tensor<?x1032xbf16>, tensor<1032xbf16>) {
    %n = fuseops.gelu_grad %a, %c approximate(tanh) : tensor<?x1032xbf16>
    %r = fuseops.reduce_rows sum %n : tensor<?x1032xbf16> -> tensor<1032xbf16>
    fuseops.yield %n, %r : tensor<?x1032xbf16>, tensor<1032xbf16>
  }
  // 129 vectors of 8 threads: loops of three visits, and one of two.
  %loop = fuseops.group @loop pointwise schedule {prefetch = 1 : i64, rows = 4 : i64, streams = 1 : i64, threads = 8 : i64, unroll = 3 : i64, workers = 3 : i64} (%a = %x, %c = %y) : (tensor<?x1032xbf16>, tensor<?x1032xbf16>) -> tensor<?x1032xbf16> {
    %n = fuseops.silu %a : tensor<?x1032xbf16>
    %m = fuseops.mul %n, %c : tensor<?x1032xbf16>, tensor<?x1032xbf16> -> tensor<?x1032xbf16>
    fuseops.yield %m : tensor<?x1032xbf16>
  }
  %walk = fuseops.group @walk row schedule {prefetch = 1 : i64, rows = 1 : i64, threads = 8 : i64, unroll = 2 : i64, workers = 5 : i64} (%a = %f) : (tensor<?x1032xf32>) -> tensor<?x1032xf32> {
    %n = fuseops.softmax %a : tensor<?x1032xf32> -> tensor<?x1032xf32>
    fuseops.yield %n : tensor<?x1032xf32>
  }
  // Columns that stay in shared memory: the whole loop but its end; and of two inputs a
  // half, with sums over rows.
  %kept = fuseops.group @kept row schedule {kept = 1024 : i64, rows = 1 : i64, threads = 8 : i64, unroll = 2 : i64, workers = 3 : i64} (%a = %f) : (tensor<?x1032xf32>) -> tensor<?x1032xf32> {
    %n = fuseops.softmax %a : tensor<?x1032xf32> -> tensor<?x1032xf32>
    fuseops.yield %n : tensor<?x1032xf32>
  }
  %kept_sums:2 = fuseops.group @kept_sums row_column schedule {kept = 512 : i64, rows = 1 : i64, streams = 1 : i64, threads = 8 : i64, workers = 4 : i64} (%a = %y, %c = %x, %d = %s, %e = %g) : (tensor<?x1032xbf16>, tensor<?x1032xbf16>, tensor<?x1xf32>, tensor<1032xbf16>) -> (tensor<?x1032xbf16>, tensor<1032xbf16>) {
    %n, %r = fuseops.rms_norm_grad %a, %c, %d gamma(%e) : (tensor<?x1032xbf16>, tensor<?x1032xbf16>, tensor<?x1xf32>, tensor<1032xbf16>) -> (tensor<?x1032xbf16>, tensor<1032xbf16>)
    fuseops.yield %n, %r : tensor<?x1032xbf16>, tensor<1032xbf16>
  }
  fuseops.return %ahead#0, %ahead#1, %one, %ring, %short, %wide, %rows, %back#0, %back#1, %tiles#0, %tiles#1, %tiles_ahead#0, %tiles_ahead#1, %loop, %walk, %kept, %kept_sums#0, %kept_sums#1 : tensor<?x1032xbf16>, tensor<?x1xf32>, tensor<?x1032xbf16>, tensor<?x1032xbf16>, tensor<?x1032xbf16>, tensor<?x1032xf32>, tensor<?x1032xbf16>, tensor<?x1032xbf16>, tensor<1032xbf16>, tensor<?x1032xbf16>, tensor<1032xbf16>, tensor<?x1032xbf16>, tensor<1032xbf16>, tensor<?x1032xbf16>, tensor<?x1032xf32>, tensor<?x1032xf32>, tensor<?x1032xbf16>, tensor<1032xbf16>
}
