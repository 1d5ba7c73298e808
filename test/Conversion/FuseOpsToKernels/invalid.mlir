// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cpu --split-input-file --verify-diagnostics
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cuda --split-input-file --verify-diagnostics

fuseops.fusible @f(%x: tensor<4x8xf32>, %s: tensor<f32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>
forward {
  %y = fuseops.group @k pointwise (%a = %x, %b = %s) : (tensor<4x8xf32>, tensor<f32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row> {
    // expected-error @below {{'fuseops.quantize' op expected only ranked tensors in a group, but got '!fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>'}}
    %q = fuseops.quantize %a scale(%b) : (tensor<4x8xf32>, tensor<f32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>
    fuseops.yield %q : !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>
  }
  fuseops.return %y : !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>
}

// -----

fuseops.fusible @f(%x: !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>, %w: tensor<2x8xbf16>) -> tensor<4x2xbf16>
forward {
  %y = fuseops.group @k library (%a = %x, %b = %w) : (!fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>, tensor<2x8xbf16>) -> tensor<4x2xbf16> {
    // expected-error @below {{'fuseops.linear' op expected only ranked tensors in a group, but got '!fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>'}}
    %q = fuseops.linear %a, %b : (!fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>, tensor<2x8xbf16>) -> tensor<4x2xbf16>
    fuseops.yield %q : tensor<4x2xbf16>
  }
  fuseops.return %y : tensor<4x2xbf16>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  %y = fuseops.group @k pointwise (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    // expected-error @below {{'arith.constant' op expected only ranked tensors in a group, but got 'f32'}}
    %c = arith.constant 1.0 : f32
    %r = fuseops.relu %a : tensor<?x8xf32>
    fuseops.yield %r : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected one contraction in a group of template `library`}}
  %y = fuseops.group @k library (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    %r = fuseops.relu %a : tensor<?x8xf32>
    fuseops.yield %r : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected one contraction in a group of template `library`}}
  %y = fuseops.group @k library (%a = %x, %b = %w) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32> {
    %r = fuseops.linear %a, %b : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    %s = fuseops.relu %r : tensor<?x8xf32>
    fuseops.yield %s : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32>
forward {
  %y = fuseops.group @k library (%a = %x) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
    // expected-error @below {{'fuseops.all_reduce' op communicates between processes, which needs a distributed runtime that this build lacks}}
    %r = fuseops.all_reduce %a group("tp") size(4) : tensor<8x8xf32> -> tensor<8x8xf32>
    fuseops.yield %r : tensor<8x8xf32>
  }
  fuseops.return %y : tensor<8x8xf32>
}

// -----

fuseops.fusible @f()
forward {
  // expected-error @below {{'fuseops.group' op expected one contraction in a group of template `library`}}
  fuseops.group @k library () : () -> () {
    fuseops.yield
  }
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32>
forward {
  %y = fuseops.group @k pointwise (%a = %x, %b = %w) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32> {
    // expected-error @below {{'fuseops.linear' op is not an operation of a memory kernel, so no template but `library` accepts it}}
    %r = fuseops.linear %a, %b : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    %s = fuseops.relu %r : tensor<?x8xf32>
    fuseops.yield %s : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x1xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected template `row`, which its operations need, but got `pointwise`}}
  %y = fuseops.group @k pointwise (%a = %x) : (tensor<?x8xf32>) -> tensor<?x1xf32> {
    %r = fuseops.reduce_columns sum %a : tensor<?x8xf32> -> tensor<?x1xf32>
    fuseops.yield %r : tensor<?x1xf32>
  }
  fuseops.return %y : tensor<?x1xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<8xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected template `row_column`, which its operations need, but got `row`}}
  %y = fuseops.group @k row (%a = %x) : (tensor<?x8xf32>) -> tensor<8xf32> {
    %r = fuseops.reduce_rows sum %a : tensor<?x8xf32> -> tensor<8xf32>
    fuseops.yield %r : tensor<8xf32>
  }
  fuseops.return %y : tensor<8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected template `pointwise`, which its operations need, but got `finalize`}}
  %y = fuseops.group @k finalize (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    %r = fuseops.relu %a : tensor<?x8xf32>
    fuseops.yield %r : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<6x2x4xf32>) -> tensor<6x8xf32>
forward {
  %y = fuseops.group @k pointwise (%a = %x) : (tensor<6x2x4xf32>) -> tensor<6x8xf32> {
    %r = fuseops.relu %a : tensor<6x2x4xf32>
    // expected-error @below {{'fuseops.reshape' op changes rows or columns within a kernel}}
    %s = fuseops.reshape %r : tensor<6x2x4xf32> -> tensor<6x8xf32>
    %t = fuseops.relu %s : tensor<6x8xf32>
    fuseops.yield %t : tensor<6x8xf32>
  }
  fuseops.return %y : tensor<6x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %z: tensor<6x8xf32>) -> (tensor<4x8xf32>, tensor<6x8xf32>)
forward {
  %y:2 = fuseops.group @k pointwise (%a = %x, %b = %z) : (tensor<4x8xf32>, tensor<6x8xf32>) -> (tensor<4x8xf32>, tensor<6x8xf32>) {
    // expected-error @below {{'fuseops.pointwise' op visits other rows than the rest of its kernel}}
    %r = fuseops.relu %a : tensor<4x8xf32>
    %s = fuseops.relu %b : tensor<6x8xf32>
    fuseops.yield %r, %s : tensor<4x8xf32>, tensor<6x8xf32>
  }
  fuseops.return %y#0, %y#1 : tensor<4x8xf32>, tensor<6x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<2x3x8xf32>, %z: tensor<3x8xf32>) -> tensor<2x3x8xf32>
forward {
  %y = fuseops.group @k pointwise (%a = %x, %b = %z) : (tensor<2x3x8xf32>, tensor<3x8xf32>) -> tensor<2x3x8xf32> {
    // expected-error @below {{'fuseops.pointwise' op visits other rows than the rest of its kernel}}
    %r = fuseops.relu %b : tensor<3x8xf32>
    %s = fuseops.add %a, %r : tensor<2x3x8xf32>, tensor<3x8xf32> -> tensor<2x3x8xf32>
    fuseops.yield %s : tensor<2x3x8xf32>
  }
  fuseops.return %y : tensor<2x3x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<2x3x8xf32>, %z: tensor<3x1xf32>) -> (tensor<2x3x8xf32>, tensor<1xf32>)
forward {
  %y:2 = fuseops.group @k row_column (%a = %x, %b = %z) : (tensor<2x3x8xf32>, tensor<3x1xf32>) -> (tensor<2x3x8xf32>, tensor<1xf32>) {
    // expected-error @below {{'fuseops.pointwise' op visits other rows than the rest of its kernel}}
    %r = fuseops.relu %a : tensor<2x3x8xf32>
    %s = fuseops.reduce_rows sum %b : tensor<3x1xf32> -> tensor<1xf32>
    fuseops.yield %r, %s : tensor<2x3x8xf32>, tensor<1xf32>
  }
  fuseops.return %y#0, %y#1 : tensor<2x3x8xf32>, tensor<1xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  %y = fuseops.group @k row_column (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    %r = fuseops.reduce_rows sum %a : tensor<?x8xf32> -> tensor<8xf32>
    // expected-error @below {{'fuseops.pointwise' op reads a reduction over rows within its own kernel}}
    %s = fuseops.mul %a, %r : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x8xf32>
    fuseops.yield %s : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<1xf32>
forward {
  %y = fuseops.group @k row_column (%a = %x) : (tensor<?x8xf32>) -> tensor<1xf32> {
    %r = fuseops.reduce_rows sum %a : tensor<?x8xf32> -> tensor<8xf32>
    // expected-error @below {{'fuseops.reduce_columns' op reads a reduction over rows within its own kernel}}
    %s = fuseops.reduce_columns sum %r : tensor<8xf32> -> tensor<1xf32>
    fuseops.yield %s : tensor<1xf32>
  }
  fuseops.return %y : tensor<1xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x4xf32>
forward {
  %y = fuseops.group @k pointwise (%a = %x) : (tensor<?x8xf32>) -> tensor<?x4xf32> {
    %r = fuseops.relu %a : tensor<?x8xf32>
    // expected-error @below {{'fuseops.slice' op moves a value that its own kernel computes}}
    %s = fuseops.swiglu %r activation(first) : tensor<?x8xf32> -> tensor<?x4xf32>
    fuseops.yield %s : tensor<?x4xf32>
  }
  fuseops.return %y : tensor<?x4xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x4x4xf32>) -> tensor<?x4x4xf32>
forward {
  %y = fuseops.group @k pointwise (%a = %x) : (tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
    %r = fuseops.relu %a : tensor<?x4x4xf32>
    // expected-error @below {{'fuseops.permute' op moves a value that its own kernel computes}}
    %p = fuseops.permute %r order[0, 2, 1] : tensor<?x4x4xf32> -> tensor<?x4x4xf32>
    %s = fuseops.relu %p : tensor<?x4x4xf32>
    fuseops.yield %s : tensor<?x4x4xf32>
  }
  fuseops.return %y : tensor<?x4x4xf32>
}

// -----

fuseops.fusible @f(%x: tensor<1x4xf32>, %z: tensor<3x4xf32>) -> tensor<4x4xf32>
forward {
  %y = fuseops.group @k pointwise (%a = %x, %b = %z) : (tensor<1x4xf32>, tensor<3x4xf32>) -> tensor<4x4xf32> {
    %r = fuseops.slice %a dim(1) offset(3) step(-1) : tensor<1x4xf32> -> tensor<1x4xf32>
    %p = fuseops.pointwise (%e = %r) : (tensor<1x4xf32>) -> tensor<1x4xf32> {
      fuseops.yield %e : f32
    }
    // expected-error @below {{'fuseops.concat' op joins a value that its own kernel computes}}
    %s = fuseops.concat %p, %b dim(0) : (tensor<1x4xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
    fuseops.yield %s : tensor<4x4xf32>
  }
  fuseops.return %y : tensor<4x4xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x4xf32>) -> tensor<?x8xf32>
forward {
  %y = fuseops.group @k pointwise (%a = %x) : (tensor<?x4xf32>) -> tensor<?x8xf32> {
    // expected-error @below {{'fuseops.concat' op is read by the kernel that computes it}}
    %r = fuseops.concat %a, %a dim(1) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
    %s = fuseops.relu %r : tensor<?x8xf32>
    fuseops.yield %s : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  // expected-error @below {{'fuseops.group' op yields its own argument number 0}}
  %y = fuseops.group @k pointwise (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    fuseops.yield %a : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>, %b: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<8xf32>)
forward {
  // expected-error @below {{'fuseops.group' op computes a value of type 'tensor<8xf32>', which is the same for every row, in a kernel over rows}}
  %y:2 = fuseops.group @k pointwise (%a = %x, %c = %b) : (tensor<?x8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<8xf32>) {
    %r = fuseops.relu %a : tensor<?x8xf32>
    %s = fuseops.relu %c : tensor<8xf32>
    fuseops.yield %r, %s : tensor<?x8xf32>, tensor<8xf32>
  }
  fuseops.return %y#0, %y#1 : tensor<?x8xf32>, tensor<8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>, %b: tensor<1x4xf32>) -> (tensor<?x8xf32>, tensor<1x8xf32>)
forward {
  // expected-error @below {{'fuseops.group' op computes a value of type 'tensor<1x4xf32>', which is the same for every row, in a kernel over rows}}
  %y:2 = fuseops.group @k pointwise (%a = %x, %d = %b) : (tensor<?x8xf32>, tensor<1x4xf32>) -> (tensor<?x8xf32>, tensor<1x8xf32>) {
    %r = fuseops.relu %a : tensor<?x8xf32>
    %c = fuseops.concat %d, %d dim(1) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x8xf32>
    fuseops.yield %r, %c : tensor<?x8xf32>, tensor<1x8xf32>
  }
  fuseops.return %y#0, %y#1 : tensor<?x8xf32>, tensor<1x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<8xf32>
forward {
  // expected-error @below {{'fuseops.group' op computes a result from reductions over rows with different numbers of columns}}
  %y = fuseops.group @k row_column (%a = %x) : (tensor<?x8xf32>) -> tensor<8xf32> {
    %r = fuseops.reduce_rows sum %a : tensor<?x8xf32> -> tensor<8xf32>
    %c = fuseops.reduce_columns sum %a : tensor<?x8xf32> -> tensor<?x1xf32>
    %d = fuseops.reduce_rows sum %c : tensor<?x1xf32> -> tensor<1xf32>
    %s = fuseops.mul %r, %d : tensor<8xf32>, tensor<1xf32> -> tensor<8xf32>
    fuseops.yield %s : tensor<8xf32>
  }
  fuseops.return %y : tensor<8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `vector` to be a positive integer of 32 bits, but got 0 : i64}}
  %y = fuseops.group @k pointwise schedule {vector = 0 : i64} (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    %r = fuseops.relu %a : tensor<?x8xf32>
    fuseops.yield %r : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `workers` to be a positive integer of 32 bits, but got -1 : i64}}
  %y = fuseops.group @k pointwise schedule {workers = -1 : i64} (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    %r = fuseops.relu %a : tensor<?x8xf32>
    fuseops.yield %r : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `threads` to be a positive integer of 32 bits, but got "many"}}
  %y = fuseops.group @k pointwise schedule {threads = "many"} (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    %r = fuseops.relu %a : tensor<?x8xf32>
    fuseops.yield %r : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `rows` to be a positive integer of 32 bits, but got 4294967296 : i64}}
  %y = fuseops.group @k pointwise schedule {rows = 4294967296 : i64} (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    %r = fuseops.relu %a : tensor<?x8xf32>
    fuseops.yield %r : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  // expected-error-re @below {{'fuseops.group' op expected schedule keys `vector`, `threads`, `rows`, `workers`, {{.+}}, but got `warps`}}
  %y = fuseops.group @k pointwise schedule {warps = 4 : i64} (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    %r = fuseops.relu %a : tensor<?x8xf32>
    fuseops.yield %r : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x256xf32>) -> tensor<?x256xf32, #fuseops.blocks<128>>
forward {
  // expected-error @below {{'fuseops.group' op expected template `tile`, which its operations need, but got `row`}}
  %y = fuseops.group @k row (%a = %x) : (tensor<?x256xf32>) -> tensor<?x256xf32, #fuseops.blocks<128>> {
    %r = fuseops.reduce_blocks %a block(128, 1) : tensor<?x256xf32> -> tensor<?x256xf32, #fuseops.blocks<128>>
    fuseops.yield %r : tensor<?x256xf32, #fuseops.blocks<128>>
  }
  fuseops.return %y : tensor<?x256xf32, #fuseops.blocks<128>>
}

// -----

// Blocks along a row are a reduction within it.
fuseops.fusible @f(%x: tensor<?x256xf32>) -> tensor<?x2xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected template `row`, which its operations need, but got `pointwise`}}
  %y = fuseops.group @k pointwise (%a = %x) : (tensor<?x256xf32>) -> tensor<?x2xf32> {
    %r = fuseops.reduce_blocks %a block(1, 128) : tensor<?x256xf32> -> tensor<?x2xf32>
    fuseops.yield %r : tensor<?x2xf32>
  }
  fuseops.return %y : tensor<?x2xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x256xf32>) -> tensor<?x1xf32>
forward {
  %y = fuseops.group @k row (%a = %x) : (tensor<?x256xf32>) -> tensor<?x1xf32> {
    %r = fuseops.reduce_blocks %a block(1, 128) : tensor<?x256xf32> -> tensor<?x2xf32>
    // expected-error @below {{'fuseops.reduce_columns' op reads as rows what its own kernel computes of blocks}}
    %s = fuseops.reduce_columns max %r : tensor<?x2xf32> -> tensor<?x1xf32>
    fuseops.yield %s : tensor<?x1xf32>
  }
  fuseops.return %y : tensor<?x1xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x256xf32>) -> tensor<2xf32>
forward {
  %y = fuseops.group @k row_column (%a = %x) : (tensor<?x256xf32>) -> tensor<2xf32> {
    %r = fuseops.reduce_blocks %a block(1, 128) : tensor<?x256xf32> -> tensor<?x2xf32>
    // expected-error @below {{'fuseops.reduce_rows' op reads as rows what its own kernel computes of blocks}}
    %s = fuseops.reduce_rows max %r : tensor<?x2xf32> -> tensor<2xf32>
    fuseops.yield %s : tensor<2xf32>
  }
  fuseops.return %y : tensor<2xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x256xf32>) -> tensor<?x1xf32>
forward {
  %y = fuseops.group @k tile (%a = %x) : (tensor<?x256xf32>) -> tensor<?x1xf32> {
    // expected-error @below {{'fuseops.reduce_columns' op reduces whole rows, which a kernel of tiles does not see}}
    %r = fuseops.reduce_columns max %a : tensor<?x256xf32> -> tensor<?x1xf32>
    fuseops.yield %r : tensor<?x1xf32>
  }
  fuseops.return %y : tensor<?x1xf32>
}
