//===- DecomposeDropout.cpp - Dropout written in core operations ---------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core.h"
#include "FuseOps/Dialect/FuseOps/FuseOps.h"
#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "FuseOps/Dialect/FuseOps/ScalarMath.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fuseops;

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

namespace {
/// Philox 4x32 with 10 rounds (Salmon et al., "Parallel random numbers: as easy
/// as 1, 2, 3", SC 2011), on i32 scalars.
struct Philox {
  OpBuilder &builder;
  Location loc;

  Value constant(uint32_t value) {
    return arith::ConstantOp::create(
        builder, loc,
        builder.getIntegerAttr(builder.getI32Type(),
                               static_cast<int32_t>(value)));
  }
  /// Low and high word of an i64.
  std::pair<Value, Value> words(Value wide) {
    Value shift =
        arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(32));
    Type i32 = builder.getI32Type();
    Value low = arith::TruncIOp::create(builder, loc, i32, wide);
    Value high = arith::TruncIOp::create(
        builder, loc, i32, arith::ShRUIOp::create(builder, loc, wide, shift));
    return {low, high};
  }
  Value bitXor(Value a, Value b) {
    return arith::XOrIOp::create(builder, loc, a, b);
  }

  std::array<Value, 4> operator()(std::array<Value, 4> counter,
                                  std::array<Value, 2> key) {
    for (int round = 0; round < 10; ++round) {
      if (round) {
        key[0] =
            arith::AddIOp::create(builder, loc, key[0], constant(0x9E3779B9));
        key[1] =
            arith::AddIOp::create(builder, loc, key[1], constant(0xBB67AE85));
      }
      auto a = arith::MulUIExtendedOp::create(builder, loc,
                                              constant(0xD2511F53), counter[0]);
      auto b = arith::MulUIExtendedOp::create(builder, loc,
                                              constant(0xCD9E8D57), counter[2]);
      counter = {bitXor(bitXor(b.getHigh(), counter[1]), key[0]), b.getLow(),
                 bitXor(bitXor(a.getHigh(), counter[3]), key[1]), a.getLow()};
    }
    return counter;
  }
};
} // namespace

SmallVector<Value> DropoutOp::decompose(OpBuilder &builder,
                                        ValueRange operands) {
  double p = getP().convertToDouble();
  Core core(*this, builder, operands);
  auto getWord = [&](int64_t index) {
    auto type = RankedTensorType::get({1}, builder.getI64Type());
    Value word =
        SliceOp::create(builder, getLoc(), type, operands[1], 0, index);
    // A scalar has no dimension for it to broadcast along.
    return getType().getRank() ? word : reshapeTo(builder, getLoc(), word, {});
  };
  Value seed = getWord(0), offset = getWord(1);
  return {core.pointwise(
      getType(), {operands[0], seed, offset}, [&](ScalarMath &m, auto v) {
        OpBuilder &b = m.builder;
        Location l = m.loc;
        Philox philox{b, l};
        auto i64 = [&](int64_t value) -> Value {
          return arith::ConstantOp::create(b, l, b.getI64IntegerAttr(value));
        };
        Value index = LinearIndexOp::create(b, l, b.getI64Type());
        Value block = arith::ShRUIOp::create(b, l, index, i64(2));
        Value lane = arith::AndIOp::create(b, l, index, i64(3));
        auto [blockLow, blockHigh] = philox.words(block);
        auto [offsetLow, offsetHigh] = philox.words(v[2]);
        auto [seedLow, seedHigh] = philox.words(v[1]);
        std::array<Value, 4> bits = philox(
            {blockLow, blockHigh, offsetLow, offsetHigh}, {seedLow, seedHigh});
        Value chosen = bits[0];
        for (int i = 1; i < 4; ++i) {
          Value isLane = arith::CmpIOp::create(b, l, arith::CmpIPredicate::eq,
                                               lane, i64(i));
          chosen = arith::SelectOp::create(b, l, isLane, bits[i], chosen);
        }
        double threshold = std::min(std::round(p * 4294967296.0), 4294967295.0);
        Value keep = arith::CmpIOp::create(
            b, l, arith::CmpIPredicate::uge, chosen,
            philox.constant(static_cast<uint32_t>(threshold)));
        Value scaled = m.mul(v[0], m.constant(1.0 / (1.0 - p)));
        return arith::SelectOp::create(b, l, keep, scaled, m.constant(0.0))
            .getResult();
      })};
}
