// Tensors of more than 2^31 elements: what kernels read and write lies beyond
// what 32 bits count. Inputs/large.py fills the input on the device (with
// @fill), runs each program, and compares elements at random places, at the
// last ones and around 2^31 with what it computes itself.
// RUN: fuse-compile %s --target=cuda --entry=fill -o %t.fill.fuseops
// RUN: fuse-compile %s --target=cuda --entry=pointwise -o %t.pointwise.fuseops
// RUN: fuse-compile %s --target=cuda --entry=norm -o %t.norm.fuseops
// RUN: fuse-compile %s --target=cuda --entry=column_sums -o %t.column_sums.fuseops
// RUN: fuse-compile %s --target=cuda --entry=softmax -o %t.softmax.fuseops
// RUN: fuse-compile %s --target=cuda --entry=slice -o %t.slice.fuseops
// RUN: fuse-compile %s --target=cuda --entry=permute -o %t.permute.fuseops
// RUN: %python %S/Inputs/large.py %t

// x[i] = (i mod 251) / 128, exact in bf16; `like` gives the shape only.
fuseops.fusible @fill(%like: tensor<?x1xi8>) -> tensor<?x1040xbf16>
forward {
  %x = fuseops.expand %like : tensor<?x1xi8> -> tensor<?x1040xi8>
  %y = fuseops.pointwise (%a = %x) : (tensor<?x1040xi8>) -> tensor<?x1040xbf16> {
    %i = fuseops.linear_index : i64
    %n = arith.constant 251 : i64
    %r = arith.remui %i, %n : i64
    %f = arith.sitofp %r : i64 to f32
    %c = arith.constant 0.0078125 : f32
    %v = arith.mulf %f, %c : f32
    fuseops.yield %v : f32
  }
  fuseops.return %y : tensor<?x1040xbf16>
}
fuseops.fusible @pointwise(%x: tensor<?x1040xbf16> {fuseops.frozen}) -> tensor<?x1040xbf16>
forward {
  %y = fuseops.scale %x by(-0.5) : tensor<?x1040xbf16>
  fuseops.return %y : tensor<?x1040xbf16>
}
fuseops.fusible @norm(%x: tensor<?x1040xbf16> {fuseops.frozen}) -> tensor<?x1040xbf16>
forward {
  %y, %rstd = fuseops.rms_norm %x eps(0.0) : (tensor<?x1040xbf16>) -> (tensor<?x1040xbf16>, tensor<?x1xf32>)
  fuseops.return %y : tensor<?x1040xbf16>
}
fuseops.fusible @column_sums(%x: tensor<?x1040xbf16> {fuseops.frozen}) -> tensor<1040xf32>
forward {
  %y = fuseops.reduce_rows sum %x : tensor<?x1040xbf16> -> tensor<1040xf32>
  fuseops.return %y : tensor<1040xf32>
}
fuseops.fusible @softmax(%x: tensor<?x1040xbf16> {fuseops.frozen}) -> tensor<?x1040xbf16>
forward {
  %y = fuseops.softmax %x : tensor<?x1040xbf16> -> tensor<?x1040xbf16>
  fuseops.return %y : tensor<?x1040xbf16>
}
fuseops.fusible @slice(%x: tensor<?x1040xbf16> {fuseops.frozen}) -> tensor<?x519xbf16>
forward {
  %y = fuseops.slice %x dim(1) offset(3) step(2) : tensor<?x1040xbf16> -> tensor<?x519xbf16>
  %z = fuseops.scale %y by(2.0) : tensor<?x519xbf16>
  fuseops.return %z : tensor<?x519xbf16>
}
fuseops.fusible @permute(%x: tensor<?x8x130xbf16> {fuseops.frozen}) -> tensor<8x?x130xbf16>
forward {
  %y = fuseops.permute %x order[1, 0, 2] : tensor<?x8x130xbf16> -> tensor<8x?x130xbf16>
  %z = fuseops.scale %y by(2.0) : tensor<8x?x130xbf16>
  fuseops.return %z : tensor<8x?x130xbf16>
}
