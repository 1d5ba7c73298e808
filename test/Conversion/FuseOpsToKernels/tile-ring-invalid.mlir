// Schedules of tile kernels that are refused, each by reason.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cuda --split-input-file --verify-diagnostics

fuseops.fusible @rows(%x: tensor<?x256xbf16>) -> tensor<?x256xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `tickets` of a tile kernel only, but got template `pointwise`}}
  %y = fuseops.group @k pointwise schedule {tickets = 1 : i64} (%a = %x) : (tensor<?x256xbf16>) -> tensor<?x256xbf16> {
    %r = fuseops.relu %a : tensor<?x256xbf16>
    fuseops.yield %r : tensor<?x256xbf16>
  }
  fuseops.return %y : tensor<?x256xbf16>
}

// -----

fuseops.fusible @switch(%x: tensor<?x256xbf16>) -> tensor<256x?xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `tickets` to be 0 or 1, but got 2}}
  %y = fuseops.group @k tile schedule {stages = 1 : i64, tickets = 2 : i64} (%a = %x) : (tensor<?x256xbf16>) -> tensor<256x?xbf16> {
    %t = fuseops.relu %a : tensor<?x256xbf16>
    %r = fuseops.permute %t order[1, 0] : tensor<?x256xbf16> -> tensor<256x?xbf16>
    fuseops.yield %r : tensor<256x?xbf16>
  }
  fuseops.return %y : tensor<256x?xbf16>
}

// -----

fuseops.fusible @without_ring(%x: tensor<?x256xbf16>) -> tensor<256x?xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `tickets` with `stages`, which hide how long a draw takes, but got none}}
  %y = fuseops.group @k tile schedule {tickets = 1 : i64} (%a = %x) : (tensor<?x256xbf16>) -> tensor<256x?xbf16> {
    %t = fuseops.relu %a : tensor<?x256xbf16>
    %r = fuseops.permute %t order[1, 0] : tensor<?x256xbf16> -> tensor<256x?xbf16>
    fuseops.yield %r : tensor<256x?xbf16>
  }
  fuseops.return %y : tensor<256x?xbf16>
}

// -----

fuseops.fusible @drawn_sums(%x: tensor<?x256xbf16>) -> tensor<256xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `tickets` with `tile_partials` where rows are reduced: sums of blocks would depend on the draw}}
  %y = fuseops.group @k tile schedule {stages = 1 : i64, tickets = 1 : i64} (%a = %x) : (tensor<?x256xbf16>) -> tensor<256xf32> {
    %r = fuseops.reduce_rows sum %a : tensor<?x256xbf16> -> tensor<256xf32>
    fuseops.yield %r : tensor<256xf32>
  }
  fuseops.return %y : tensor<256xf32>
}

// -----

fuseops.fusible @no_sums(%x: tensor<?x256xbf16>) -> tensor<256x?xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `tile_partials` where rows are reduced, but none are}}
  %y = fuseops.group @k tile schedule {tile_partials = 1 : i64} (%a = %x) : (tensor<?x256xbf16>) -> tensor<256x?xbf16> {
    %t = fuseops.relu %a : tensor<?x256xbf16>
    %r = fuseops.permute %t order[1, 0] : tensor<?x256xbf16> -> tensor<256x?xbf16>
    fuseops.yield %r : tensor<256x?xbf16>
  }
  fuseops.return %y : tensor<256x?xbf16>
}

// -----

fuseops.fusible @other_rows(%x: tensor<?x3x256xbf16>) -> tensor<256xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `tile_partials` of a matrix with `?` or a fixed number of rows, but its rows are another size}}
  %y = fuseops.group @k tile schedule {tile_partials = 1 : i64} (%a = %x) : (tensor<?x3x256xbf16>) -> tensor<256xf32> {
    %r = fuseops.reduce_rows sum %a : tensor<?x3x256xbf16> -> tensor<256xf32>
    fuseops.yield %r : tensor<256xf32>
  }
  fuseops.return %y : tensor<256xf32>
}

// -----

// 255 columns of bf16 are read one by one, and `cp.async` copies no 2 bytes.
fuseops.fusible @odd(%x: tensor<?x255xbf16>) -> tensor<255x?xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `stages` where an input is read in row-major vectors of 4, 8 or 16 bytes, but there is none with `vector` 1}}
  %y = fuseops.group @k tile schedule {stages = 1 : i64} (%a = %x) : (tensor<?x255xbf16>) -> tensor<255x?xbf16> {
    %t = fuseops.relu %a : tensor<?x255xbf16>
    %r = fuseops.permute %t order[1, 0] : tensor<?x255xbf16> -> tensor<255x?xbf16>
    fuseops.yield %r : tensor<255x?xbf16>
  }
  fuseops.return %y : tensor<255x?xbf16>
}

// -----

fuseops.fusible @large(%x: tensor<?x256xbf16>) -> tensor<256x?xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `stages` whose slots, 32768 bytes each, fit, for all `residents`, into the 232448 bytes of shared memory of sm_90, but got 262144}}
  %y = fuseops.group @k tile schedule {stages = 7 : i64} (%a = %x) : (tensor<?x256xbf16>) -> tensor<256x?xbf16> {
    %t = fuseops.relu %a : tensor<?x256xbf16>
    %r = fuseops.permute %t order[1, 0] : tensor<?x256xbf16> -> tensor<256x?xbf16>
    fuseops.yield %r : tensor<256x?xbf16>
  }
  fuseops.return %y : tensor<256x?xbf16>
}

// -----

fuseops.fusible @crowded(%x: tensor<?x256xbf16>) -> tensor<256x?xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `residents` whose threads, with `threads` and `rows`, are at most the 2048 of a processor of sm_90, but got 2560}}
  %y = fuseops.group @k tile schedule {residents = 5 : i64} (%a = %x) : (tensor<?x256xbf16>) -> tensor<256x?xbf16> {
    %t = fuseops.relu %a : tensor<?x256xbf16>
    %r = fuseops.permute %t order[1, 0] : tensor<?x256xbf16> -> tensor<256x?xbf16>
    fuseops.yield %r : tensor<256x?xbf16>
  }
  fuseops.return %y : tensor<256x?xbf16>
}
