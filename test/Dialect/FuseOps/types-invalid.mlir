// RUN: fuse-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected scale `per_tensor`, `per_row`, `block<1x128>`, `block<128x128>` or `mx<1x32>`, but got `per_column`}}
fuseops.fusible @f(%q: !fuseops.quantized<4x8xf8E4M3FN, scale = per_column, copies = row>)
forward {
  fuseops.return
}

// -----

// expected-error @below {{expected scale `per_tensor`, `per_row`, `block<1x128>`, `block<128x128>` or `mx<1x32>`, but got `block<1x64>`}}
fuseops.fusible @f(%q: !fuseops.quantized<4x8xf8E4M3FN, scale = block<1x64>, copies = row>)
forward {
  fuseops.return
}

// -----

// expected-error @below {{expected scale `per_tensor`, `per_row`, `block<1x128>`, `block<128x128>` or `mx<1x32>`, but got `mx<1x16>`}}
fuseops.fusible @f(%q: !fuseops.quantized<4x8xf8E4M3FN, scale = mx<1x16>, copies = row>)
forward {
  fuseops.return
}

// -----

// expected-error @below {{expected copies `row`, `col` or `row_col`, but got `both`}}
fuseops.fusible @f(%q: !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = both>)
forward {
  fuseops.return
}

// -----

// expected-error @below {{expected a quantized tensor of rank 2, but got rank 1}}
fuseops.fusible @f(%q: !fuseops.quantized<8xf8E4M3FN, scale = per_row, copies = row>)
forward {
  fuseops.return
}

// -----

// expected-error @below {{expected a quantized tensor of rank 2, but got rank 3}}
fuseops.fusible @f(%q: !fuseops.quantized<2x4x8xf8E4M3FN, scale = per_row, copies = row>)
forward {
  fuseops.return
}

// -----

// expected-error @below {{expected element type `f8E4M3FN` or `f8E5M2`, but got 'bf16'}}
fuseops.fusible @f(%q: !fuseops.quantized<4x8xbf16, scale = per_row, copies = row>)
forward {
  fuseops.return
}

// -----

// expected-error @below {{expected 'scale'}}
fuseops.fusible @f(%q: !fuseops.quantized<4x8xf8E4M3FN, copies = row>)
forward {
  fuseops.return
}

// -----

// expected-error @below {{expected ','}}
fuseops.fusible @f(%q: !fuseops.quantized<4x8xf8E4M3FN, scale = per_row>)
forward {
  fuseops.return
}

// -----

// expected-error @below {{unbalanced '<' character in pretty dialect name}}
fuseops.fusible @f(%q: !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row)
forward {
  fuseops.return
}
