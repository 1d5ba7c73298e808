// A sum over rows of wide values: on CUDA blocks share a row, here with a last tile that is not full.
// RUN: fuse-run %s --size 1 --check
// RUN: fuse-run %s --size 67 --check
fuseops.fusible @bias(%x: tensor<?x3x1000xbf16>, %b: tensor<1000xbf16>) -> tensor<?x3x1000xbf16>
forward {
  %z = fuseops.bias %x, %b : tensor<?x3x1000xbf16>, tensor<1000xbf16>
  %y = fuseops.gelu %z approximate(none) : tensor<?x3x1000xbf16>
  fuseops.return %y : tensor<?x3x1000xbf16>
}
