// Integers of every width: sums that wrap, signs, shifts, and conversions.
// RUN: fuse-run %s --target=cpu --size 1 --check
// RUN: fuse-run %s --target=cpu --size 130 --check

fuseops.fusible @main(%a: tensor<?x40xi8>, %b: tensor<40xi16>, %c: tensor<?x1xi32>, %d: tensor<?x40xi64>, %u: tensor<?x40xui8>, %x: tensor<?x40xbf16>) -> (tensor<?x40xi8>, tensor<?x40xi16>, tensor<?x40xi32>, tensor<?x40xi64>, tensor<?x40xui8>, tensor<?x40xbf16>)
forward {
  %y:6 = fuseops.pointwise (%i = %a, %j = %b, %k = %c, %l = %d, %v = %u, %f = %x) : (tensor<?x40xi8>, tensor<40xi16>, tensor<?x1xi32>, tensor<?x40xi64>, tensor<?x40xui8>, tensor<?x40xbf16>) -> (tensor<?x40xi8>, tensor<?x40xi16>, tensor<?x40xi32>, tensor<?x40xi64>, tensor<?x40xui8>, tensor<?x40xbf16>) {
    %three = arith.constant 3 : i32
    %two = arith.constant 2.0 : f32
    // i8 and ui8 wrap.
    %ii = arith.addi %i, %i : i8
    %vv = arith.addi %v, %v : i8
    %wide = arith.extsi %i : i8 to i16
    %jj = arith.muli %j, %wide : i16
    %jk = arith.extsi %jj : i16 to i32
    %shifted = arith.shli %k, %three : i32
    %kk = arith.subi %shifted, %jk : i32
    %unsigned = arith.extui %v : i8 to i64
    %less = arith.cmpi slt, %l, %unsigned : i64
    %ll = arith.select %less, %l, %unsigned : i64
    %float = arith.sitofp %l : i64 to f32
    %scaled = arith.divf %float, %two : f32
    %sum = arith.addf %f, %scaled : f32
    fuseops.yield %ii, %jj, %kk, %ll, %vv, %sum : i8, i16, i32, i64, i8, f32
  }
  fuseops.return %y#0, %y#1, %y#2, %y#3, %y#4, %y#5 : tensor<?x40xi8>, tensor<?x40xi16>, tensor<?x40xi32>, tensor<?x40xi64>, tensor<?x40xui8>, tensor<?x40xbf16>
}
