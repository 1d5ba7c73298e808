// Each fusion, and each refused one, is one remark at the consumer.
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-forward-fusion --remarks-filter=fuseops-forward-fusion --verify-diagnostics -o %t
// RUN: grep -v expected %s | fuse-opt - --fuseops-forward-fusion=fuse=false --remarks-filter=fuseops-forward-fusion -o %t 2>&1 | count 0

fuseops.fusible @main(%x: tensor<?x8xbf16>, %w: tensor<8x8xbf16>) -> tensor<?x8xbf16>
forward {
  %0 = fuseops.silu %x : tensor<?x8xbf16>
  // expected-remark @below {{[Passed] Fusion | Category:fuseops-forward-fusion | Reason="fused fuseops.silu with fuseops.relu"}}
  %1 = fuseops.relu %0 : tensor<?x8xbf16>
  // expected-remark @below {{[Missed] Fusion | Category:fuseops-forward-fusion | Reason="fuseops.relu with fuseops.linear: condition 1, one of them is not an operation of a memory kernel"}}
  %2 = fuseops.linear %1, %w : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
  fuseops.return %2 save(%x) : tensor<?x8xbf16>, tensor<?x8xbf16>
}
backward (%dy: tensor<?x8xbf16>, saved %x: tensor<?x8xbf16>) {
  %0 = fuseops.silu_grad %dy, %x : tensor<?x8xbf16>
  %1 = fuseops.relu_grad %0, %x : tensor<?x8xbf16>
  fuseops.return %1, none : tensor<?x8xbf16>
}

// A sibling that reads the same tensor is a decision of its own.
fuseops.fusible @siblings(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
forward {
  %0 = fuseops.silu %x : tensor<4x8xf32>
  // expected-remark @below {{[Passed] Fusion | Category:fuseops-forward-fusion | Reason="fused fuseops.silu with fuseops.relu"}}
  %1 = fuseops.relu %x : tensor<4x8xf32>
  fuseops.return %0, %1 save(%x) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
backward (%d0: tensor<4x8xf32>, %d1: tensor<4x8xf32>, saved %x: tensor<4x8xf32>) {
  %0 = fuseops.silu_grad %d0, %x : tensor<4x8xf32>
  %1 = fuseops.relu_grad %d1, %x : tensor<4x8xf32>
  fuseops.return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

fuseops.fusible @contraction(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  fuseops.return %x save(%x) : tensor<4x8xf32>, tensor<4x8xf32>
}
backward (%dy: tensor<4x8xf32>, saved %x: tensor<4x8xf32>) {
  %0 = fuseops.matmul %x, %dy transpose_lhs : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  %1 = fuseops.silu %0 : tensor<8x8xf32>
  %2 = fuseops.matmul %dy, %1 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  fuseops.return %2 : tensor<4x8xf32>
}
