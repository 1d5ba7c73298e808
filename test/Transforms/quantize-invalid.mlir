// RUN: fuse-opt %s --fuseops-quantize=recipe=block --split-input-file --verify-diagnostics
// RUN: not fuse-opt %s --fuseops-quantize=recipe=fast -o %t 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not fuse-opt %s --fuseops-quantize='recipe="delayed, history = 0"' -o %t 2>&1 | FileCheck %s --check-prefix=HISTORY

// WORD: expected a recipe such as `block` or `delayed, history = 16`, but got `fast`: expected recipe `none`, `delayed`, `current`, `block`, `rowwise` or `mx`, but got `fast`
// HISTORY: expected a recipe such as `block` or `delayed, history = 16`, but got `delayed, history = 0`: expected a history of at least 1, but got 0

// What is saved with all gradients is not known here.
// expected-error @below {{'fuseops.fusible' op has `missing_gradients`: expected no recipe, whose saved FP8 copies depend on all gradients}}
fuseops.fusible @missing(%x: tensor<?x32xbf16>, %w: tensor<32x32xbf16>) -> tensor<?x32xbf16> attributes {missing_gradients = array<i64: 0>}
forward {
  %0 = fuseops.linear %x, %w : (tensor<?x32xbf16>, tensor<32x32xbf16>) -> tensor<?x32xbf16>
  fuseops.return %0 : tensor<?x32xbf16>
}
