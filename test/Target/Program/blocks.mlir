// A quantize of blocks in a program: how many blocks of rows there are is a size
// of its own, of shapes and of bytes.
// RUN: fuse-compile %s --target=cpu --emit=report -o - | FileCheck %s
// RUN: fuse-run %s --target=cpu --size 129 --check

// Of each row 80 bytes in, 40 and 40 of data and 4 of a scale; of 128 rows the 40
// scales of their columns.
// CHECK: "floor_bytes": [
// CHECK-NEXT: 0,
// CHECK-NEXT: 164,
// CHECK-NEXT: 0,
// CHECK-NEXT: 160
// CHECK-NEXT: ],
fuseops.fusible @f(%x: tensor<?x40xbf16>) -> !fuseops.quantized<?x40xf8E4M3FN, scale = block<1x128>, copies = row_col>
forward {
  %q = fuseops.quantize %x : (tensor<?x40xbf16>) -> !fuseops.quantized<?x40xf8E4M3FN, scale = block<1x128>, copies = row_col>
  fuseops.return %q : !fuseops.quantized<?x40xf8E4M3FN, scale = block<1x128>, copies = row_col>
}
