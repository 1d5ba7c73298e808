// Keys of a row kernel's schedule that the group or the chip cannot have.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cuda --split-input-file --verify-diagnostics

fuseops.fusible @not_held(%x: tensor<?x65536xbf16>) -> tensor<?x1xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `stages` where `threads` hold a row in registers, but 32 do not}}
  %y = fuseops.group @k row schedule {rows = 1 : i64, stages = 2 : i64, threads = 32 : i64} (%a = %x) : (tensor<?x65536xbf16>) -> tensor<?x1xf32> {
    %r = fuseops.reduce_columns max %a : tensor<?x65536xbf16> -> tensor<?x1xf32>
    fuseops.yield %r : tensor<?x1xf32>
  }
  fuseops.return %y : tensor<?x1xf32>
}

// -----

// Vectors of one byte: no instruction copies them.
fuseops.fusible @no_copy(%x: tensor<?x33xi8>) -> tensor<?x1xi8>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `stages` where an input is read in row-major vectors of 4, 8 or 16 bytes, but there is none with `vector` 1}}
  %y = fuseops.group @k row schedule {rows = 1 : i64, stages = 2 : i64, threads = 32 : i64} (%a = %x) : (tensor<?x33xi8>) -> tensor<?x1xi8> {
    %r = fuseops.reduce_columns max %a : tensor<?x33xi8> -> tensor<?x1xi8>
    fuseops.yield %r : tensor<?x1xi8>
  }
  fuseops.return %y : tensor<?x1xi8>
}

// -----

fuseops.fusible @too_many(%x: tensor<?x8192xbf16>) -> tensor<?x1xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `stages` whose slots, 16384 bytes each, fit into the 232448 bytes of shared memory of the chip, but got 262272}}
  %y = fuseops.group @k row schedule {rows = 1 : i64, stages = 16 : i64, threads = 256 : i64} (%a = %x) : (tensor<?x8192xbf16>) -> tensor<?x1xf32> {
    %r = fuseops.reduce_columns max %a : tensor<?x8192xbf16> -> tensor<?x1xf32>
    fuseops.yield %r : tensor<?x1xf32>
  }
  fuseops.return %y : tensor<?x1xf32>
}

// -----

fuseops.fusible @held(%x: tensor<?x1024xbf16>) -> tensor<?x1024xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `unroll` where a row is walked in a loop, but its 128 threads hold it}}
  %y = fuseops.group @k pointwise schedule {rows = 1 : i64, threads = 128 : i64, unroll = 2 : i64} (%a = %x) : (tensor<?x1024xbf16>) -> tensor<?x1024xbf16> {
    %r = fuseops.relu %a : tensor<?x1024xbf16>
    fuseops.yield %r : tensor<?x1024xbf16>
  }
  fuseops.return %y : tensor<?x1024xbf16>
}

// -----

fuseops.fusible @kept_and_ring(%x: tensor<?x1024xbf16>) -> tensor<?x1024xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `kept` where a row without blocks is walked more than once, one row at a time, without `stages` and `prefetch`}}
  %y = fuseops.group @k row schedule {kept = 1024 : i64, prefetch = 1 : i64, rows = 1 : i64, threads = 128 : i64} (%a = %x) : (tensor<?x1024xbf16>) -> tensor<?x1024xbf16> {
    %r = fuseops.softmax %a : tensor<?x1024xbf16> -> tensor<?x1024xbf16>
    fuseops.yield %r : tensor<?x1024xbf16>
  }
  fuseops.return %y : tensor<?x1024xbf16>
}

// -----

fuseops.fusible @kept_too_much(%x: tensor<?x131072xbf16>) -> tensor<?x131072xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `kept` to be a multiple of 8192 columns, what an iteration visits, and at most 114688, of which 232448 bytes of shared memory have place, but got 131072}}
  %y = fuseops.group @k row schedule {kept = 131072 : i64, rows = 1 : i64, threads = 1024 : i64} (%a = %x) : (tensor<?x131072xbf16>) -> tensor<?x131072xbf16> {
    %r = fuseops.softmax %a : tensor<?x131072xbf16> -> tensor<?x131072xbf16>
    fuseops.yield %r : tensor<?x131072xbf16>
  }
  fuseops.return %y : tensor<?x131072xbf16>
}

// -----

// A block that has no more than a part of a row cannot reduce it.
fuseops.fusible @reduced(%x: tensor<?x1024xbf16>) -> tensor<?x1xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `tiles` to be 1, or 4, the parts of `vector` times `threads` columns that a row has, where rows alone are reduced, but got 4}}
  %y = fuseops.group @k row schedule {rows = 1 : i64, threads = 32 : i64, tiles = 4 : i64} (%a = %x) : (tensor<?x1024xbf16>) -> tensor<?x1xf32> {
    %r = fuseops.reduce_columns max %a : tensor<?x1024xbf16> -> tensor<?x1xf32>
    fuseops.yield %r : tensor<?x1xf32>
  }
  fuseops.return %y : tensor<?x1xf32>
}

// -----

fuseops.fusible @parts(%x: tensor<?x1024xbf16>) -> tensor<1024xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `tiles` to be 1, or 4, the parts of `vector` times `threads` columns that a row has, where rows alone are reduced, but got 3}}
  %y = fuseops.group @k row_column schedule {tiles = 3 : i64} (%a = %x) : (tensor<?x1024xbf16>) -> tensor<1024xf32> {
    %r = fuseops.reduce_rows sum %a : tensor<?x1024xbf16> -> tensor<1024xf32>
    fuseops.yield %r : tensor<1024xf32>
  }
  fuseops.return %y : tensor<1024xf32>
}

// -----

fuseops.fusible @workers(%x: tensor<?x1024xbf16>) -> tensor<1024xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `workers` to be a multiple of 4, the tiles along a row that is reduced, but got 6}}
  %y = fuseops.group @k row_column schedule {tiles = 4 : i64, workers = 6 : i64} (%a = %x) : (tensor<?x1024xbf16>) -> tensor<1024xf32> {
    %r = fuseops.reduce_rows sum %a : tensor<?x1024xbf16> -> tensor<1024xf32>
    fuseops.yield %r : tensor<1024xf32>
  }
  fuseops.return %y : tensor<1024xf32>
}

// -----

// Its 16 lanes have to be there at once.
fuseops.fusible @blocks(%x: tensor<?x1024xbf16>) -> tensor<?x8xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `threads` to be at least 16, which with `vector` visit a block of columns, but got 8}}
  %y = fuseops.group @k row schedule {rows = 1 : i64, threads = 8 : i64} (%a = %x) : (tensor<?x1024xbf16>) -> tensor<?x8xf32> {
    %r = fuseops.cast %a : tensor<?x1024xbf16> -> tensor<?x1024xf32>
    %m = fuseops.reduce_blocks %r block(1, 128) : tensor<?x1024xf32> -> tensor<?x8xf32>
    fuseops.yield %m : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}
