// Every schedule that is worth measuring, of a kernel of each template, gives what
// the default gives, in every run the same, and what was chosen is right: at sizes
// with whole tiles, with parts of them, and of one row.
// RUN: rm -f %t.json
// RUN: fuse-compile %s --target=cuda --entry=pointwise --tune --candidates=40 --size=1,300,1024 --schedules=%t.json
// RUN: fuse-compile %s --target=cuda --entry=row --tune --candidates=40 --size=1,300,1024 --schedules=%t.json
// RUN: fuse-compile %s --target=cuda --entry=columns --tune --candidates=40 --size=1,300,1024 --schedules=%t.json
// RUN: fuse-compile %s --target=cuda --entry=tile --tune --candidates=40 --size=1,300,1024 --schedules=%t.json
// RUN: fuse-compile %s --target=cuda --entry=tile_sums --tune --candidates=40 --size=1,300,1024 --schedules=%t.json
// RUN: fuse-run %s --target=cuda --entry=pointwise --schedules=%t.json --size 300 --check
// RUN: fuse-run %s --target=cuda --entry=row --schedules=%t.json --size 300 --check
// RUN: fuse-run %s --target=cuda --entry=columns --schedules=%t.json --size 300 --check
// RUN: fuse-run %s --target=cuda --entry=tile --schedules=%t.json --size 300 --check
// RUN: fuse-run %s --target=cuda --entry=tile_sums --schedules=%t.json --size 300 --check

fuseops.fusible @pointwise(%x: tensor<?x2048xbf16>) -> tensor<?x1024xbf16>
forward {
  %y = fuseops.swiglu %x activation(first) : tensor<?x2048xbf16> -> tensor<?x1024xbf16>
  fuseops.return %y : tensor<?x1024xbf16>
}

// Backward is row-column: sums over rows beside statistics of a row.
fuseops.fusible @row(%x: tensor<?x4096xbf16>, %r: tensor<?x4096xbf16>, %g: tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x4096xbf16>)
forward {
  %s = fuseops.add %x, %r : tensor<?x4096xbf16>, tensor<?x4096xbf16> -> tensor<?x4096xbf16>
  %y, %rstd = fuseops.rms_norm %s gamma(%g) eps(1.0e-6) : (tensor<?x4096xbf16>, tensor<4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x1xf32>)
  fuseops.return %y, %s : tensor<?x4096xbf16>, tensor<?x4096xbf16>
}

// Sums over rows without sums over columns.
fuseops.fusible @columns(%dy: tensor<?x1024xbf16>, %z: tensor<?x1024xbf16>) -> (tensor<?x1024xbf16>, tensor<1024xbf16>)
attributes {frozen_results = array<i64: 0, 1>}
forward {
  %dz = fuseops.gelu_grad %dy, %z approximate(tanh) : tensor<?x1024xbf16>
  %db = fuseops.reduce_rows sum %dz : tensor<?x1024xbf16> -> tensor<1024xbf16>
  fuseops.return %dz, %db : tensor<?x1024xbf16>, tensor<1024xbf16>
}

!rc_block = !fuseops.quantized<?x1024xf8E4M3FN, scale = block<1x128>, copies = row_col>

fuseops.fusible @tile(%x: tensor<?x2048xbf16>) -> !rc_block
attributes {frozen_results = array<i64: 0>}
forward {
  %y = fuseops.swiglu %x activation(first) : tensor<?x2048xbf16> -> tensor<?x1024xbf16>
  %q = fuseops.quantize %y : (tensor<?x1024xbf16>) -> !rc_block
  fuseops.return %q : !rc_block
}

fuseops.fusible @tile_sums(%dy: tensor<?x1024xbf16>, %z: tensor<?x1024xbf16>) -> (!rc_block, tensor<1024xbf16>)
attributes {frozen_results = array<i64: 0, 1>}
forward {
  %dz = fuseops.gelu_grad %dy, %z approximate(tanh) : tensor<?x1024xbf16>
  %db = fuseops.reduce_rows sum %dz : tensor<?x1024xbf16> -> tensor<1024xbf16>
  %q = fuseops.quantize %dz : (tensor<?x1024xbf16>) -> !rc_block
  fuseops.return %q, %db : !rc_block, tensor<1024xbf16>
}
