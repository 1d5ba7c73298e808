// Tiles that CUDA draws from a counter, and inputs that are read again by the
// second pass: they are the two halves of one tensor.
// RUN: fuse-run %s --size 1 --check
// RUN: fuse-run %s --size 300 --check

fuseops.fusible @main(%x: tensor<?x784xbf16> {fuseops.frozen}) -> (tensor<?x392xbf16>, tensor<392x?xbf16>, tensor<?x4xf32>, tensor<?x392xf32, #fuseops.blocks<128>>)
forward {
  %r:4 = fuseops.group @k tile schedule {stages = 1 : i64, tickets = 1 : i64, threads = 256 : i64, workers = 3 : i64} (%a = %x) : (tensor<?x784xbf16>) -> (tensor<?x392xbf16>, tensor<392x?xbf16>, tensor<?x4xf32>, tensor<?x392xf32, #fuseops.blocks<128>>) {
    %y = fuseops.swiglu %a activation(first) : tensor<?x784xbf16> -> tensor<?x392xbf16>
    %w = fuseops.pointwise (%e = %y) : (tensor<?x392xbf16>) -> tensor<?x392xf32> {
      %n = math.absf %e : f32
      fuseops.yield %n : f32
    }
    %m = fuseops.reduce_blocks %w block(1, 128) : tensor<?x392xf32> -> tensor<?x4xf32>
    %n = fuseops.reduce_blocks %w block(128, 1) : tensor<?x392xf32> -> tensor<?x392xf32, #fuseops.blocks<128>>
    %em = fuseops.expand_blocks %m block(1, 128) : tensor<?x4xf32> -> tensor<?x392xf32>
    %en = fuseops.expand_blocks %n block(128, 1) : tensor<?x392xf32, #fuseops.blocks<128>> -> tensor<?x392xf32>
    %p = fuseops.mul %y, %em : tensor<?x392xbf16>, tensor<?x392xf32> -> tensor<?x392xbf16>
    %q = fuseops.add %y, %en : tensor<?x392xbf16>, tensor<?x392xf32> -> tensor<?x392xbf16>
    %t = fuseops.permute %q order[1, 0] : tensor<?x392xbf16> -> tensor<392x?xbf16>
    fuseops.yield %p, %t, %m, %n : tensor<?x392xbf16>, tensor<392x?xbf16>, tensor<?x4xf32>, tensor<?x392xf32, #fuseops.blocks<128>>
  }
  fuseops.return %r#0, %r#1, %r#2, %r#3 : tensor<?x392xbf16>, tensor<392x?xbf16>, tensor<?x4xf32>, tensor<?x392xf32, #fuseops.blocks<128>>
}
