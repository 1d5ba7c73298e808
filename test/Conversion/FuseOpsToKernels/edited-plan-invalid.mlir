// Edits of a plan that no kernel can follow are refused at the group, by reason.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cpu --verify-diagnostics --split-input-file
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cuda --verify-diagnostics --split-input-file

// The sum was moved into a group that is still said to be pointwise.
fuseops.fusible @moved_reduction(%x: tensor<?x64xf32>) -> tensor<64xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected template `row_column`, which its operations need, but got `pointwise`}}
  %y = fuseops.group @forward_0 pointwise (%p = %x) : (tensor<?x64xf32>) -> tensor<64xf32> {
    %1 = fuseops.relu %p : tensor<?x64xf32>
    %2 = fuseops.reduce_rows sum %1 : tensor<?x64xf32> -> tensor<64xf32>
    fuseops.yield %2 : tensor<64xf32>
  }
  fuseops.return %y : tensor<64xf32>
}

// -----

// The bias was moved into the group of the sum that it reads.
fuseops.fusible @moved_reader(%x: tensor<?x64xf32>) -> tensor<?x64xf32>
forward {
  %y = fuseops.group @forward_0 row_column (%p = %x) : (tensor<?x64xf32>) -> tensor<?x64xf32> {
    %1 = fuseops.reduce_rows sum %p : tensor<?x64xf32> -> tensor<64xf32>
    // expected-error @below {{'fuseops.pointwise' op reads a reduction over rows within its own kernel}}
    %2 = fuseops.bias %p, %1 : tensor<?x64xf32>, tensor<64xf32>
    fuseops.yield %2 : tensor<?x64xf32>
  }
  fuseops.return %y : tensor<?x64xf32>
}

// -----

// An operation with other rows was moved in.
fuseops.fusible @moved_other_rows(%x: tensor<?x64xf32>, %b: tensor<8x4xf32>) -> (tensor<?x64xf32>, tensor<8x4xf32>)
forward {
  %y:2 = fuseops.group @forward_0 pointwise (%p = %x, %q = %b) : (tensor<?x64xf32>, tensor<8x4xf32>) -> (tensor<?x64xf32>, tensor<8x4xf32>) {
    // expected-error @below {{'fuseops.pointwise' op visits other rows than the rest of its kernel}}
    %1 = fuseops.relu %p : tensor<?x64xf32>
    %2 = fuseops.relu %q : tensor<8x4xf32>
    fuseops.yield %1, %2 : tensor<?x64xf32>, tensor<8x4xf32>
  }
  fuseops.return %y#0, %y#1 : tensor<?x64xf32>, tensor<8x4xf32>
}

// -----

// A product was moved into a memory kernel.
fuseops.fusible @moved_product(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>) -> tensor<?x64xf32>
forward {
  %y = fuseops.group @forward_0 pointwise (%p = %x, %q = %w) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32> {
    // expected-error @below {{'fuseops.matmul' op is not an operation of a memory kernel, so no template but `library` accepts it}}
    %1 = fuseops.matmul %p, %q : tensor<?x64xf32>, tensor<64x64xf32> -> tensor<?x64xf32>
    %2 = fuseops.relu %1 : tensor<?x64xf32>
    fuseops.yield %2 : tensor<?x64xf32>
  }
  fuseops.return %y : tensor<?x64xf32>
}

// -----

// The value that was moved away is not among the group's inputs.
fuseops.fusible @forgotten_input(%x: tensor<?x64xf32>) -> tensor<?x64xf32>
forward {
  // expected-note @below {{required by region isolation constraints}}
  %y = fuseops.group @forward_0 pointwise (%p = %x) : (tensor<?x64xf32>) -> tensor<?x64xf32> {
    // expected-error @below {{'fuseops.relu' op using value defined outside the region}}
    %1 = fuseops.relu %x : tensor<?x64xf32>
    fuseops.yield %1 : tensor<?x64xf32>
  }
  fuseops.return %y : tensor<?x64xf32>
}

// -----

// Or not among its results.
fuseops.fusible @forgotten_result(%x: tensor<?x64xf32>) -> tensor<?x64xf32>
forward {
  %y:2 = fuseops.group @forward_0 pointwise (%p = %x) : (tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
    %1 = fuseops.relu %p : tensor<?x64xf32>
    // expected-error @below {{'fuseops.yield' op expected to yield ('tensor<?x64xf32>', 'tensor<?x64xf32>'), but got ('tensor<?x64xf32>')}}
    fuseops.yield %1 : tensor<?x64xf32>
  }
  fuseops.return %y#1 : tensor<?x64xf32>
}

// -----

fuseops.fusible @own_result(%x: tensor<?x64xf32>) -> tensor<?x64xf32>
forward {
  // expected-error @below {{operand #1 does not dominate this use}}
  // expected-note @below {{operand defined here}}
  %y = fuseops.group @forward_0 pointwise (%p = %x, %q = %y) : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32> {
    %1 = fuseops.add %p, %q : tensor<?x64xf32>, tensor<?x64xf32> -> tensor<?x64xf32>
    fuseops.yield %1 : tensor<?x64xf32>
  }
  fuseops.return %y : tensor<?x64xf32>
}

// -----

// Each of the two groups reads what the other computes: there is an order of the
// operations, but none of the kernels.
fuseops.fusible @cycle(%x: tensor<?x64xf32>) -> tensor<?x64xf32>
forward {
  // expected-error @below {{operand #1 does not dominate this use}}
  %y:2 = fuseops.group @forward_0 pointwise (%p = %x, %q = %z) : (tensor<?x64xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
    %1 = fuseops.relu %p : tensor<?x64xf32>
    %2 = fuseops.relu %q : tensor<?x64xf32>
    fuseops.yield %1, %2 : tensor<?x64xf32>, tensor<?x64xf32>
  }
  // expected-note @below {{operand defined here}}
  %z = fuseops.group @forward_1 pointwise (%p = %y#0) : (tensor<?x64xf32>) -> tensor<?x64xf32> {
    %1 = fuseops.silu %p : tensor<?x64xf32>
    fuseops.yield %1 : tensor<?x64xf32>
  }
  fuseops.return %y#1 : tensor<?x64xf32>
}

// -----

fuseops.fusible @nested(%x: tensor<?x64xf32>) -> tensor<?x64xf32>
forward {
  %y = fuseops.group @forward_0 pointwise (%p = %x) : (tensor<?x64xf32>) -> tensor<?x64xf32> {
    // expected-error @below {{'fuseops.group' op expects parent op 'fuseops.fusible'}}
    %z = fuseops.group @forward_1 pointwise (%q = %p) : (tensor<?x64xf32>) -> tensor<?x64xf32> {
      %1 = fuseops.relu %q : tensor<?x64xf32>
      fuseops.yield %1 : tensor<?x64xf32>
    }
    fuseops.yield %z : tensor<?x64xf32>
  }
  fuseops.return %y : tensor<?x64xf32>
}

// -----

fuseops.fusible @library_of_two(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>) -> tensor<?x64xf32>
forward {
  // expected-error @below {{'fuseops.group' op expected one contraction in a group of template `library`}}
  %y = fuseops.group @forward_0 library (%p = %x, %q = %w) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32> {
    %1 = fuseops.matmul %p, %q : tensor<?x64xf32>, tensor<64x64xf32> -> tensor<?x64xf32>
    %2 = fuseops.relu %1 : tensor<?x64xf32>
    fuseops.yield %2 : tensor<?x64xf32>
  }
  fuseops.return %y : tensor<?x64xf32>
}
