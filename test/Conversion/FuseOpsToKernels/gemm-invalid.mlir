// What template `gemm` refuses, each by reason.
// RUN: fuse-opt %s --convert-fuseops-to-kernels="target=cuda chip=sm_90a" --split-input-file --verify-diagnostics

fuseops.fusible @no_contraction(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected a contraction in a group of template `gemm`}}
  %y = fuseops.group @k gemm (%a = %x) : (tensor<?x64xbf16>) -> tensor<?x64xbf16> {
    %z = fuseops.relu %a : tensor<?x64xbf16>
    fuseops.yield %z : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}

// -----

fuseops.fusible @two_contractions(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xbf16>
forward {
  %y = fuseops.group @k gemm (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16> {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
    // expected-error @below {{'fuseops.linear' op is a second contraction in a group of template `gemm`, which has one}}
    %q = fuseops.linear %z, %b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
    fuseops.yield %q : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}

// -----

fuseops.fusible @element(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>) -> tensor<?x64xf32>
forward {
  %y = fuseops.group @k gemm (%a = %x, %b = %w) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32> {
    // expected-error @below {{'fuseops.linear' op expected operands of f16, bf16, f8E4M3FN or f8E5M2 for template `gemm`, but got 'tensor<?x64xf32>' and 'tensor<64x64xf32>' to 'tensor<?x64xf32>'}}
    %z = fuseops.linear %a, %b : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    fuseops.yield %z : tensor<?x64xf32>
  }
  fuseops.return %y : tensor<?x64xf32>
}

// -----

fuseops.fusible @rows_of_operands(%x: tensor<?x60xbf16>, %w: tensor<64x60xbf16>) -> tensor<?x64xbf16>
forward {
  %y = fuseops.group @k gemm (%a = %x, %b = %w) : (tensor<?x60xbf16>, tensor<64x60xbf16>) -> tensor<?x64xbf16> {
    // expected-error @below {{expected operands with rows of a multiple of 16 bytes for template `gemm`}}
    %z = fuseops.linear %a, %b : (tensor<?x60xbf16>, tensor<64x60xbf16>) -> tensor<?x64xbf16>
    fuseops.yield %z : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}

// -----

fuseops.fusible @columns(%x: tensor<?x64xbf16>, %w: tensor<60x64xbf16>) -> tensor<?x60xbf16>
forward {
  %y = fuseops.group @k gemm (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<60x64xbf16>) -> tensor<?x60xbf16> {
    // expected-error @below {{expected a multiple of 8 columns for template `gemm`}}
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<60x64xbf16>) -> tensor<?x60xbf16>
    fuseops.yield %z : tensor<?x60xbf16>
  }
  fuseops.return %y : tensor<?x60xbf16>
}

// -----

fuseops.fusible @computed_operand(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xbf16>
forward {
  %y = fuseops.group @k gemm (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16> {
    %r = fuseops.relu %a : tensor<?x64xbf16>
    // expected-error @below {{'fuseops.linear' op expected operands that lie in memory for template `gemm`}}
    %z = fuseops.linear %r, %b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
    fuseops.yield %z : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}

// -----

fuseops.fusible @whole_rows(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xbf16>
forward {
  %y = fuseops.group @k gemm (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16> {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
    // expected-error @below {{'fuseops.pointwise' op reads a reduction of whole rows within its own kernel, of whose tiles each has a part}}
    %q = fuseops.softmax %z : tensor<?x64xbf16> -> tensor<?x64xbf16>
    fuseops.yield %q : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}

// -----

fuseops.fusible @sums_of_sums(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<1xf32>
forward {
  %y = fuseops.group @k gemm (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<1xf32> {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
    %m = fuseops.reduce_columns max %z : tensor<?x64xbf16> -> tensor<?x1xf32>
    // expected-error @below {{'fuseops.reduce_rows' op reads a reduction of whole rows within its own kernel, of whose tiles each has a part}}
    %s = fuseops.reduce_rows sum %m : tensor<?x1xf32> -> tensor<1xf32>
    fuseops.yield %s : tensor<1xf32>
  }
  fuseops.return %y : tensor<1xf32>
}

// -----

fuseops.fusible @two_kinds_of_sums(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x1xf32>
forward {
  %y = fuseops.group @k gemm (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x1xf32> {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
    %m = fuseops.reduce_columns max %z : tensor<?x64xbf16> -> tensor<?x1xf32>
    %n = fuseops.amax %z : tensor<?x64xbf16> -> tensor<f32>
    // expected-error @below {{'fuseops.pointwise' op reads a reduction of whole rows within its own kernel, of whose tiles each has a part}}
    %s = fuseops.mul %m, %n : tensor<?x1xf32>, tensor<f32> -> tensor<?x1xf32>
    fuseops.yield %s : tensor<?x1xf32>
  }
  fuseops.return %y : tensor<?x1xf32>
}

// -----

fuseops.fusible @other_rows(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>, %g: tensor<1x64xbf16>) -> (tensor<?x64xbf16>, tensor<1x1xf32>)
forward {
  %y:2 = fuseops.group @k gemm (%a = %x, %b = %w, %c = %g) : (tensor<?x64xbf16>, tensor<64x64xbf16>, tensor<1x64xbf16>) -> (tensor<?x64xbf16>, tensor<1x1xf32>) {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
    // expected-error @below {{'fuseops.reduce_columns' op reduces what has no element for each of the contraction's, beside it}}
    %s = fuseops.reduce_columns sum %c : tensor<1x64xbf16> -> tensor<1x1xf32>
    fuseops.yield %z, %s : tensor<?x64xbf16>, tensor<1x1xf32>
  }
  fuseops.return %y#0, %y#1 : tensor<?x64xbf16>, tensor<1x1xf32>
}

// -----

fuseops.fusible @blocks_of_sums(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> (tensor<?x64xbf16>, tensor<64xbf16>)
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `tile_rows` of 128, of `?` or a fixed number of rows, where rows are reduced, but got 256}}
  %y:2 = fuseops.group @k gemm schedule {ping_pong = 0 : i64, tile_rows = 256 : i64, tile_columns = 64 : i64, stages = 2 : i64} (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> (tensor<?x64xbf16>, tensor<64xbf16>) {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
    %s = fuseops.reduce_rows sum %z : tensor<?x64xbf16> -> tensor<64xbf16>
    fuseops.yield %z, %s : tensor<?x64xbf16>, tensor<64xbf16>
  }
  fuseops.return %y#0, %y#1 : tensor<?x64xbf16>, tensor<64xbf16>
}

// -----

fuseops.fusible @warpgroups(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `warpgroups` of 2 or 3, and of 2 with `ping_pong` 1, but got 3 and 1}}
  %y = fuseops.group @k gemm schedule {warpgroups = 3 : i64} (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16> {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
    fuseops.yield %z : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}

// -----

fuseops.fusible @tile_rows(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `tile_rows` to be a multiple of 128 of at most 256, but got 192}}
  %y = fuseops.group @k gemm schedule {ping_pong = 0 : i64, tile_rows = 192 : i64} (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16> {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
    fuseops.yield %z : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}

// -----

fuseops.fusible @tile_columns(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `tile_columns` to be 64, 128, 192 or 256, but got 96}}
  %y = fuseops.group @k gemm schedule {tile_columns = 96 : i64} (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16> {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
    fuseops.yield %z : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}

// -----

fuseops.fusible @registers_at_launch(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `tile_columns` of at most 192 with three `warpgroups`, but got 256}}
  %y = fuseops.group @k gemm schedule {ping_pong = 0 : i64, warpgroups = 3 : i64, tile_rows = 192 : i64, tile_columns = 256 : i64} (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16> {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
    fuseops.yield %z : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}

// -----

fuseops.fusible @sums_of_a_thread(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected a schedule with at most 192 sums a thread, but got 256}}
  %y = fuseops.group @k gemm schedule {tile_rows = 128 : i64, tile_columns = 256 : i64} (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16> {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
    fuseops.yield %z : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}

// -----

fuseops.fusible @no_buffers(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `store_buffers` of at least 1, one of each store of 64 columns, but got 0}}
  %y = fuseops.group @k gemm schedule {store_buffers = 0 : i64} (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16> {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
    fuseops.yield %z : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}

// -----

fuseops.fusible @no_raster(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `raster` of at least 1 and `stages` of at least 2, but got 0 and 8}}
  %y = fuseops.group @k gemm schedule {raster = 0 : i64} (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16> {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
    fuseops.yield %z : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}

// -----

// A stage is released when the next one is being multiplied.
fuseops.fusible @one_stage(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `raster` of at least 1 and `stages` of at least 2, but got 16 and 1}}
  %y = fuseops.group @k gemm schedule {stages = 1 : i64} (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16> {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
    fuseops.yield %z : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}

// -----

// The product's two halves and the GLU are stored at once.
fuseops.fusible @few_buffers(%x: tensor<?x64xbf16>, %w: tensor<256x64xbf16>) -> (tensor<?x256xbf16>, tensor<?x128xbf16>)
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `store_buffers` of at least 3, one of each store of 64 columns, but got 2}}
  %y:2 = fuseops.group @k gemm schedule {store_buffers = 2 : i64} (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<256x64xbf16>) -> (tensor<?x256xbf16>, tensor<?x128xbf16>) {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<256x64xbf16>) -> tensor<?x256xbf16>
    %q = fuseops.swiglu %z activation(first) : tensor<?x256xbf16> -> tensor<?x128xbf16>
    fuseops.yield %z, %q : tensor<?x256xbf16>, tensor<?x128xbf16>
  }
  fuseops.return %y#0, %y#1 : tensor<?x256xbf16>, tensor<?x128xbf16>
}

// -----

fuseops.fusible @halves_of_tiles(%x: tensor<?x64xbf16>, %w: tensor<256x64xbf16>) -> tensor<?x128xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `tile_columns` to be a multiple of 128, so that one or two tiles have whole blocks of each part, but got 192}}
  %y = fuseops.group @k gemm schedule {tile_columns = 192 : i64} (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<256x64xbf16>) -> tensor<?x128xbf16> {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<256x64xbf16>) -> tensor<?x256xbf16>
    %q = fuseops.swiglu %z activation(first) : tensor<?x256xbf16> -> tensor<?x128xbf16>
    fuseops.yield %q : tensor<?x128xbf16>
  }
  fuseops.return %y : tensor<?x128xbf16>
}

// -----

// Neighbouring blocks of a cluster have the halves of 128 columns.
fuseops.fusible @cluster(%x: tensor<?x64xbf16>, %w: tensor<256x64xbf16>) -> tensor<?x1xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected an even number of schedule `workers`, and blocks of what is no other block's, where two tiles have a block, but got 3}}
  %y = fuseops.group @k gemm schedule {workers = 3 : i64} (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<256x64xbf16>) -> tensor<?x1xf32> {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<256x64xbf16>) -> tensor<?x256xf32>
    %q = fuseops.swiglu %z activation(first) : tensor<?x256xf32> -> tensor<?x128xf32>
    %m = fuseops.reduce_blocks %q block(1, 128) : tensor<?x128xf32> -> tensor<?x1xf32>
    fuseops.yield %m : tensor<?x1xf32>
  }
  fuseops.return %y : tensor<?x1xf32>
}

// -----

fuseops.fusible @computed_scale(%x: tensor<?x64xf8E4M3FN>, %s: tensor<f32>, %w: tensor<64x64xf8E4M3FN>) -> tensor<?x64xbf16>
forward {
  %y = fuseops.group @k gemm (%a = %x, %b = %s, %c = %w) : (tensor<?x64xf8E4M3FN>, tensor<f32>, tensor<64x64xf8E4M3FN>) -> tensor<?x64xbf16> {
    %r = fuseops.relu %b : tensor<f32>
    // expected-error @below {{'fuseops.scaled_matmul' op expected operands that lie in memory for template `gemm`}}
    %z = fuseops.scaled_matmul %a[%r] per_tensor, %c[%b] per_tensor : (tensor<?x64xf8E4M3FN>, tensor<f32>, tensor<64x64xf8E4M3FN>, tensor<f32>) -> tensor<?x64xbf16>
    fuseops.yield %z : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}

// -----

fuseops.fusible @other_columns(%x: tensor<?x64xbf16>, %w: tensor<128x64xbf16>, %r: tensor<?x64xbf16>) -> tensor<?x192xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected results with the columns of the contraction, or one element for each block, in a group of template `gemm`, but got 'tensor<?x64xbf16>'}}
  %y = fuseops.group @k gemm (%a = %x, %b = %w, %c = %r) : (tensor<?x64xbf16>, tensor<128x64xbf16>, tensor<?x64xbf16>) -> tensor<?x192xbf16> {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<128x64xbf16>) -> tensor<?x128xbf16>
    %q = fuseops.relu %c : tensor<?x64xbf16>
    %t = fuseops.concat %z, %q dim(1) : (tensor<?x128xbf16>, tensor<?x64xbf16>) -> tensor<?x192xbf16>
    fuseops.yield %t : tensor<?x192xbf16>
  }
  fuseops.return %y : tensor<?x192xbf16>
}

// -----

// Pairs that lie in turns are no halves.
fuseops.fusible @interleaved(%x: tensor<?x64xbf16>, %w: tensor<256x64xbf16>) -> tensor<?x128xbf16>
forward {
  %y = fuseops.group @k gemm (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<256x64xbf16>) -> tensor<?x128xbf16> {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<256x64xbf16>) -> tensor<?x256xbf16>
    // expected-error @below {{changes rows or columns within a kernel}}
    %q = fuseops.swiglu %z activation(first) interleave(32) : tensor<?x256xbf16> -> tensor<?x128xbf16>
    fuseops.yield %q : tensor<?x128xbf16>
  }
  fuseops.return %y : tensor<?x128xbf16>
}

// -----

fuseops.fusible @blocks_of_columns(%x: tensor<?x64xbf16>, %w: tensor<256x64xbf16>) -> tensor<?x256xf32, #fuseops.blocks<128>>
forward {
  %y = fuseops.group @k gemm (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<256x64xbf16>) -> tensor<?x256xf32, #fuseops.blocks<128>> {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<256x64xbf16>) -> tensor<?x256xf32>
    // expected-error @below {{'fuseops.reduce_blocks' op expected blocks of one row and 32, 64 or 128 columns in a group of template `gemm`, but got 128 by 1}}
    %q = fuseops.reduce_blocks %z block(128, 1) : tensor<?x256xf32> -> tensor<?x256xf32, #fuseops.blocks<128>>
    fuseops.yield %q : tensor<?x256xf32, #fuseops.blocks<128>>
  }
  fuseops.return %y : tensor<?x256xf32, #fuseops.blocks<128>>
}

// -----

fuseops.fusible @shared_memory(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected a schedule whose stages and buffers fit into 232448 bytes of shared memory, but got}}
  %y = fuseops.group @k gemm schedule {stages = 20 : i64} (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16> {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
    fuseops.yield %z : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}

// -----

fuseops.fusible @key_of_products(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `tile_rows`, `tile_columns`, `warpgroups`, `ping_pong`, `raster` and `store_buffers` in groups of template `gemm` only}}
  %y = fuseops.group @k pointwise schedule {warpgroups = 2 : i64} (%a = %x) : (tensor<?x64xbf16>) -> tensor<?x64xbf16> {
    %z = fuseops.relu %a : tensor<?x64xbf16>
    fuseops.yield %z : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}

// -----

fuseops.fusible @sums_of_groups(%x: tensor<?x64xbf16>, %w: tensor<3x64x64xbf16>, %n: tensor<3xi64>) -> tensor<64xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected no reduction over the rows of all groups of a grouped product into columns, in a group of template `gemm`}}
  %y = fuseops.group @k gemm (%a = %x, %b = %w, %c = %n) : (tensor<?x64xbf16>, tensor<3x64x64xbf16>, tensor<3xi64>) -> tensor<64xbf16> {
    %p = fuseops.grouped_matmul %a, %b sizes(%c) transpose_rhs : tensor<?x64xbf16>, tensor<3x64x64xbf16>, tensor<3xi64> -> tensor<?x64xbf16>
    %d = fuseops.reduce_rows sum %p : tensor<?x64xbf16> -> tensor<64xbf16>
    fuseops.yield %d : tensor<64xbf16>
  }
  fuseops.return %y : tensor<64xbf16>
}

// -----

fuseops.fusible @rows_of_matrices(%x: tensor<?x72xbf16>, %w: tensor<3x72x64xbf16>, %n: tensor<3xi64>) -> tensor<?x64xbf16>
forward {
  %y = fuseops.group @k gemm (%a = %x, %b = %w, %c = %n) : (tensor<?x72xbf16>, tensor<3x72x64xbf16>, tensor<3xi64>) -> tensor<?x64xbf16> {
    // expected-error @below {{expected groups of rows with a multiple of 64 elements where matrices are not transposed for template `gemm`}}
    %p = fuseops.grouped_matmul %a, %b sizes(%c) : tensor<?x72xbf16>, tensor<3x72x64xbf16>, tensor<3xi64> -> tensor<?x64xbf16>
    fuseops.yield %p : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}

// -----

fuseops.fusible @contracted_groups(%x: tensor<?x64xbf16>, %w: tensor<?x64xbf16>, %n: tensor<3xi64>) -> tensor<3x64x64xbf16>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `ping_pong` of 1, where the rows of groups are contracted}}
  %y = fuseops.group @k gemm schedule {ping_pong = 0 : i64} (%a = %x, %b = %w, %c = %n) : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<3xi64>) -> tensor<3x64x64xbf16> {
    %p = fuseops.grouped_matmul %a, %b sizes(%c) transpose_lhs : tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<3xi64> -> tensor<3x64x64xbf16>
    fuseops.yield %p : tensor<3x64x64xbf16>
  }
  fuseops.return %y : tensor<3x64x64xbf16>
}
