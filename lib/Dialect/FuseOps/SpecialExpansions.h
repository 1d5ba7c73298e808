//===- SpecialExpansions.h - What special functions are made of -----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expansions in f64, from which f32 is rounded. `m.type` is f64 or a vector of
// it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_DIALECT_FUSEOPS_SPECIALEXPANSIONS_H
#define FUSEOPS_LIB_DIALECT_FUSEOPS_SPECIALEXPANSIONS_H

#include "FuseOps/Dialect/FuseOps/ScalarMath.h"

namespace mlir::fuseops {

/// sin(pi x), exact at integers, and cot(pi x), infinite there.
Value expandSinPi(ScalarMath &m, Value x);
Value expandCotPi(ScalarMath &m, Value x);

Value expandLgamma(ScalarMath &m, Value x);
Value expandPolygamma(ScalarMath &m, Value x, int64_t order);
Value expandZeta(ScalarMath &m, Value s, Value q);

Value expandErfinv(ScalarMath &m, Value x);
Value expandErfcx(ScalarMath &m, Value x);
Value expandLogNdtr(ScalarMath &m, Value x);
Value expandNdtri(ScalarMath &m, Value p);

/// The modified Bessel function of order 0 or 1, times exp(-|x|) if `isScaled`.
Value expandBessel(ScalarMath &m, Value x, int order, bool isScaled);
/// The derivative of the scaled one.
Value expandScaledBesselSlope(ScalarMath &m, Value x, int order);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_DIALECT_FUSEOPS_SPECIALEXPANSIONS_H
