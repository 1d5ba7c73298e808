// Sizes, damaged programs and missing devices: a sentence and exit code 1.
// RUN: not fuse-run %s --size 65 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: fuse-run %s --size 64
// RUN: fuse-compile %s -o %t.fuseops
// RUN: not fuse-run %t.fuseops --size 65 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not fuse-run %t.fuseops --target=reference 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: %python -c "d = open('%t.fuseops', 'rb').read(); open('%t.cut', 'wb').write(d[:len(d) // 2])"
// RUN: not fuse-run %t.cut 2>&1 | FileCheck %s --check-prefix=CUT
// RUN: %python -c "d = bytearray(open('%t.fuseops', 'rb').read()); d[-9] ^= 1; open('%t.bad', 'wb').write(d)"
// RUN: not fuse-run %t.bad 2>&1 | FileCheck %s --check-prefix=ALTERED
// RUN: not fuse-run %t.missing 2>&1 | FileCheck %s --check-prefix=MISSING

// SIZE: error: expected a size of 0 to 64, but got 65
// TARGET: error: expected a program for `reference`, but it was compiled for `cpu`
// CUT: cut: error: expected {{[0-9]+}} bytes after the header of the program, but got {{[0-9]+}}
// ALTERED: bad: error: the program's bytes do not match its hash
// MISSING: error: cannot read `{{.*}}missing`: No such file or directory
fuseops.fusible @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {symbol_max = 64 : i64}
forward {
  %y = fuseops.silu %x : tensor<?x8xf32>
  fuseops.return %y : tensor<?x8xf32>
}
