// What only CUDA kernels refuse.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cuda --split-input-file --verify-diagnostics

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `vector` to be a power of two of at most 4, which its tensors allow, but got 3}}
  %y = fuseops.group @k pointwise schedule {vector = 3 : i64} (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    %r = fuseops.relu %a : tensor<?x8xf32>
    fuseops.yield %r : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `vector` to be a power of two of at most 4, which its tensors allow, but got 16}}
  %y = fuseops.group @k pointwise schedule {vector = 16 : i64} (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    %r = fuseops.relu %a : tensor<?x8xf32>
    fuseops.yield %r : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `threads` to be a power of two, with `rows` at most 1024 threads together and `rows` 1 where a row spans warps, but got 3 and 1}}
  %y = fuseops.group @k pointwise schedule {rows = 1 : i64, threads = 3 : i64} (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    %r = fuseops.relu %a : tensor<?x8xf32>
    fuseops.yield %r : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `threads` to be a power of two, with `rows` at most 1024 threads together and `rows` 1 where a row spans warps, but got 2048 and 1}}
  %y = fuseops.group @k pointwise schedule {threads = 2048 : i64, rows = 1 : i64} (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    %r = fuseops.relu %a : tensor<?x8xf32>
    fuseops.yield %r : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `threads` to be a power of two, with `rows` at most 1024 threads together and `rows` 1 where a row spans warps, but got 2 and 2048}}
  %y = fuseops.group @k pointwise schedule {rows = 2048 : i64, threads = 2 : i64} (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    %r = fuseops.relu %a : tensor<?x8xf32>
    fuseops.yield %r : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `threads` to be a power of two, with `rows` at most 1024 threads together and `rows` 1 where a row spans warps, but got 32 and 64}}
  %y = fuseops.group @k pointwise schedule {rows = 64 : i64, threads = 32 : i64} (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    %r = fuseops.relu %a : tensor<?x8xf32>
    fuseops.yield %r : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x4096xf32>) -> tensor<?x1xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `threads` to be a power of two, with `rows` at most 1024 threads together and `rows` 1 where a row spans warps, but got 64 and 2}}
  %y = fuseops.group @k row schedule {rows = 2 : i64, threads = 64 : i64} (%a = %x) : (tensor<?x4096xf32>) -> tensor<?x1xf32> {
    %r = fuseops.reduce_columns sum %a : tensor<?x4096xf32> -> tensor<?x1xf32>
    fuseops.yield %r : tensor<?x1xf32>
  }
  fuseops.return %y : tensor<?x1xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x65536xf32>) -> tensor<65536xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `rows` 1 where a reduction over rows is kept in memory because `threads` cannot hold a row, but got 2}}
  %y = fuseops.group @k row_column schedule {rows = 2 : i64, threads = 32 : i64} (%a = %x) : (tensor<?x65536xf32>) -> tensor<65536xf32> {
    %r = fuseops.reduce_rows sum %a : tensor<?x65536xf32> -> tensor<65536xf32>
    fuseops.yield %r : tensor<65536xf32>
  }
  fuseops.return %y : tensor<65536xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x64xi8>) -> tensor<64xi64>
forward {
  // expected-error @below {{'fuseops.group' op expected a schedule that combines its rows in 49152 bytes of shared memory, but got 65536: `rows`, `threads` and `vector` together}}
  %y = fuseops.group @k row_column schedule {rows = 128 : i64, threads = 8 : i64} (%a = %x) : (tensor<?x64xi8>) -> tensor<64xi64> {
    %r = fuseops.reduce_rows sum %a : tensor<?x64xi8> -> tensor<64xi64>
    fuseops.yield %r : tensor<64xi64>
  }
  fuseops.return %y : tensor<64xi64>
}

// -----

fuseops.fusible @f(%x: tensor<?x256xf32>) -> tensor<?x2xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `threads` 128, 256 or 512 and `rows` 1 of a tile kernel, but got 64 and 1}}
  %y = fuseops.group @k tile schedule {threads = 64 : i64} (%a = %x) : (tensor<?x256xf32>) -> tensor<?x2xf32> {
    %r = fuseops.reduce_blocks %a block(1, 128) : tensor<?x256xf32> -> tensor<?x2xf32>
    fuseops.yield %r : tensor<?x2xf32>
  }
  fuseops.return %y : tensor<?x2xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x256xf32>) -> (tensor<?x2xf32>, tensor<256xf32>)
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `workers` to be a multiple of 2, the tiles along a row that is reduced, but got 3}}
  %y:2 = fuseops.group @k tile schedule {workers = 3 : i64} (%a = %x) : (tensor<?x256xf32>) -> (tensor<?x2xf32>, tensor<256xf32>) {
    %r = fuseops.reduce_blocks %a block(1, 128) : tensor<?x256xf32> -> tensor<?x2xf32>
    %s = fuseops.reduce_rows sum %a : tensor<?x256xf32> -> tensor<256xf32>
    fuseops.yield %r, %s : tensor<?x2xf32>, tensor<256xf32>
  }
  fuseops.return %y#0, %y#1 : tensor<?x2xf32>, tensor<256xf32>
}

// -----

// Maxima and staged bytes are there at once: of each warp's, 16 KB for each of two
// reductions, and 32 KB of a tile, beside scales of 4 KB.
fuseops.fusible @f(%x: tensor<?x256xf64>) -> (tensor<?x256xf64, #fuseops.blocks<32>>, tensor<256x?xbf16>)
forward {
  // expected-error @below {{'fuseops.group' op expected a schedule that keeps its tile in 49152 bytes of shared memory, but got 69632: fewer `threads` need less}}
  %y:2 = fuseops.group @k tile schedule {threads = 512 : i64} (%a = %x) : (tensor<?x256xf64>) -> (tensor<?x256xf64, #fuseops.blocks<32>>, tensor<256x?xbf16>) {
    %r = fuseops.reduce_blocks %a block(32, 1) : tensor<?x256xf64> -> tensor<?x256xf64, #fuseops.blocks<32>>
    %e = fuseops.expand_blocks %r block(32, 1) : tensor<?x256xf64, #fuseops.blocks<32>> -> tensor<?x256xf64>
    %n = fuseops.mul %a, %e : tensor<?x256xf64>, tensor<?x256xf64> -> tensor<?x256xf64>
    %s = fuseops.reduce_blocks %n block(32, 1) : tensor<?x256xf64> -> tensor<?x256xf64, #fuseops.blocks<32>>
    %m = fuseops.mul %a, %e : tensor<?x256xf64>, tensor<?x256xf64> -> tensor<?x256xbf16>
    %t = fuseops.permute %m order[1, 0] : tensor<?x256xbf16> -> tensor<256x?xbf16>
    fuseops.yield %s, %t : tensor<?x256xf64, #fuseops.blocks<32>>, tensor<256x?xbf16>
  }
  fuseops.return %y#0, %y#1 : tensor<?x256xf64, #fuseops.blocks<32>>, tensor<256x?xbf16>
}
