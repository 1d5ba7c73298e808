// What only CPU kernels refuse, or refuse in other words.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cpu --split-input-file --verify-diagnostics

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `vector` to be a power of two of at most 64, which its tensors allow, but got 3}}
  %y = fuseops.group @k pointwise schedule {vector = 3 : i64} (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    %r = fuseops.relu %a : tensor<?x8xf32>
    fuseops.yield %r : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `vector` to be a power of two of at most 64, which its tensors allow, but got 128}}
  %y = fuseops.group @k pointwise schedule {vector = 128 : i64} (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
    %r = fuseops.relu %a : tensor<?x8xf32>
    fuseops.yield %r : tensor<?x8xf32>
  }
  fuseops.return %y : tensor<?x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<?x64xf8E4M3FN>, %xs: tensor<f32>, %w: tensor<128x64xf8E4M3FN>, %ws: tensor<f32>) -> tensor<?x128xbf16>
forward {
  %y = fuseops.group @k library (%a = %x, %b = %xs, %c = %w, %d = %ws) : (tensor<?x64xf8E4M3FN>, tensor<f32>, tensor<128x64xf8E4M3FN>, tensor<f32>) -> tensor<?x128xbf16> {
    // expected-error @below {{'fuseops.scaled_matmul' op expected target `cuda`, the only one that multiplies FP8}}
    %r = fuseops.scaled_matmul %a[%b] per_tensor, %c[%d] per_tensor : (tensor<?x64xf8E4M3FN>, tensor<f32>, tensor<128x64xf8E4M3FN>, tensor<f32>) -> tensor<?x128xbf16>
    fuseops.yield %r : tensor<?x128xbf16>
  }
  fuseops.return %y : tensor<?x128xbf16>
}

// -----

// A vector lies in one block.
fuseops.fusible @f(%x: tensor<?x128xf32>) -> tensor<?x4xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected schedule `vector` to be a power of two of at most 32, which its tensors allow, but got 64}}
  %y = fuseops.group @k row schedule {vector = 64 : i64} (%a = %x) : (tensor<?x128xf32>) -> tensor<?x4xf32> {
    %r = fuseops.reduce_blocks %a block(1, 32) : tensor<?x128xf32> -> tensor<?x4xf32>
    fuseops.yield %r : tensor<?x4xf32>
  }
  fuseops.return %y : tensor<?x4xf32>
}
