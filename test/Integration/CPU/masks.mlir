// Bools: a mask that selects, one that is computed, and logic on both. The mask
// has no gradient; where it is false the input has none either.
// RUN: fuse-run %s --target=cpu --size 1 --check
// RUN: fuse-run %s --target=cpu --size 130 --check

fuseops.fusible @main(%x: tensor<?x40xbf16>, %m: tensor<?x40xi1>, %t: tensor<40xbf16>) -> (tensor<?x40xbf16>, tensor<?x40xi1>, tensor<?x1xi1>, tensor<?x1xi1>, tensor<40xi64>)
forward {
  %above = fuseops.pointwise (%a = %x, %b = %t) : (tensor<?x40xbf16>, tensor<40xbf16>) -> tensor<?x40xi1> {
    %is = arith.cmpf ogt, %a, %b : f32
    fuseops.yield %is : i1
  }
  %y, %both = fuseops.pointwise (%a = %x, %k = %m, %p = %above) : (tensor<?x40xbf16>, tensor<?x40xi1>, tensor<?x40xi1>) -> (tensor<?x40xbf16>, tensor<?x40xi1>) {
    %zero = arith.constant 0.0 : f32
    %true = arith.constant true
    %not = arith.xori %p, %true : i1
    %keep = arith.andi %k, %not : i1
    %r = arith.select %keep, %a, %zero : f32
    fuseops.yield %r, %keep : f32, i1
  }
  %any = fuseops.reduce_columns max %both : tensor<?x40xi1> -> tensor<?x1xi1>
  %all = fuseops.reduce_columns min %above : tensor<?x40xi1> -> tensor<?x1xi1>
  %count = fuseops.reduce_rows sum %both : tensor<?x40xi1> -> tensor<40xi64>
  fuseops.return %y, %both, %any, %all, %count : tensor<?x40xbf16>, tensor<?x40xi1>, tensor<?x1xi1>, tensor<?x1xi1>, tensor<40xi64>
}
