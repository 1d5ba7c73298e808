// A tile kernel that nothing but the draw of tiles needs barriers for; f32 is
// fetched ahead in vectors of 16 bytes.
// RUN: fuse-run %s --size 1 --check
// RUN: fuse-run %s --size 300 --check

fuseops.fusible @main(%x: tensor<?x392xf32> {fuseops.frozen}) -> tensor<?x392xf32>
forward {
  %r = fuseops.group @k tile schedule {stages = 2 : i64, tickets = 1 : i64, workers = 3 : i64} (%a = %x) : (tensor<?x392xf32>) -> tensor<?x392xf32> {
    %y = fuseops.relu %a : tensor<?x392xf32>
    fuseops.yield %y : tensor<?x392xf32>
  }
  fuseops.return %r : tensor<?x392xf32>
}
