// The gradients of a gated unit, each quantized for both products that read it:
// row copies and transposed ones, in one kernel.
// RUN: fuse-run %s --size 1 --check
// RUN: fuse-run %s --size 300 --check

!q = !fuseops.quantized<?x512xf8E5M2, scale = block<1x128>, copies = row_col>

fuseops.fusible @main(%dy: tensor<?x512xbf16> {fuseops.frozen}, %g: tensor<?x512xbf16> {fuseops.frozen}, %u: tensor<?x512xbf16> {fuseops.frozen}) -> (!q, !q)
forward {
  %a = fuseops.silu %g : tensor<?x512xbf16>
  %du = fuseops.mul %dy, %a : tensor<?x512xbf16>, tensor<?x512xbf16> -> tensor<?x512xbf16>
  %da = fuseops.mul %dy, %u : tensor<?x512xbf16>, tensor<?x512xbf16> -> tensor<?x512xbf16>
  %dg = fuseops.silu_grad %da, %g : tensor<?x512xbf16>
  %q = fuseops.quantize %dg : (tensor<?x512xbf16>) -> !q
  %p = fuseops.quantize %du : (tensor<?x512xbf16>) -> !q
  fuseops.return %q, %p : !q, !q
}
