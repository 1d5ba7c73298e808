// Maxima along and across in one kernel, and both copies of what they scale. The
// last rows and columns of tiles are cut off.
// RUN: fuse-run %s --size 1 --check
// RUN: fuse-run %s --size 128 --check
// RUN: fuse-run %s --size 333 --check

fuseops.fusible @main(%x: tensor<?x261xbf16> {fuseops.frozen}) -> (tensor<?x261xbf16>, tensor<261x?xbf16>, tensor<3x?xf32>, tensor<?x261xf32, #fuseops.blocks<128>>)
forward {
  %y = fuseops.silu %x : tensor<?x261xbf16>
  %w = fuseops.pointwise (%e = %y) : (tensor<?x261xbf16>) -> tensor<?x261xf32> {
    %m = math.absf %e : f32
    fuseops.yield %m : f32
  }
  %a = fuseops.reduce_blocks %w block(1, 128) : tensor<?x261xf32> -> tensor<?x3xf32>
  %b = fuseops.reduce_blocks %w block(128, 1) : tensor<?x261xf32> -> tensor<?x261xf32, #fuseops.blocks<128>>
  %s = fuseops.pointwise (%e = %a) : (tensor<?x3xf32>) -> tensor<?x3xf32> {
    %c = arith.constant 3.0 : f32
    %m = arith.addf %e, %c : f32
    fuseops.yield %m : f32
  }
  %ea = fuseops.expand_blocks %s block(1, 128) : tensor<?x3xf32> -> tensor<?x261xf32>
  %eb = fuseops.expand_blocks %b block(128, 1) : tensor<?x261xf32, #fuseops.blocks<128>> -> tensor<?x261xf32>
  %p = fuseops.mul %y, %ea : tensor<?x261xbf16>, tensor<?x261xf32> -> tensor<?x261xbf16>
  %q = fuseops.add %y, %eb : tensor<?x261xbf16>, tensor<?x261xf32> -> tensor<?x261xbf16>
  %t = fuseops.permute %q order[1, 0] : tensor<?x261xbf16> -> tensor<261x?xbf16>
  %st = fuseops.permute %s order[1, 0] : tensor<?x3xf32> -> tensor<3x?xf32>
  fuseops.return %p, %t, %st, %b : tensor<?x261xbf16>, tensor<261x?xbf16>, tensor<3x?xf32>, tensor<?x261xf32, #fuseops.blocks<128>>
}
