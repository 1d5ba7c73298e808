// Softmax of rows.

fuseops.fusible @softmax(%x: tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
forward {
  %y = fuseops.softmax %x : tensor<?x4096xbf16> -> tensor<?x4096xbf16>
  fuseops.return %y : tensor<?x4096xbf16>
}
