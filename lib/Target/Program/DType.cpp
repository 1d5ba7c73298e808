//===- DType.cpp - Element types as the program file numbers them ---------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DType.h"

#include "FuseOps/Format/Program_generated.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace schema = ::fuseops::schema;

static std::optional<unsigned> getIntegerDType(IntegerType type) {
  if (type.isUnsignedInteger(8))
    return schema::DType_U8;
  if (!type.isSignless())
    return std::nullopt;
  switch (type.getWidth()) {
  case 1:
    return schema::DType_I1;
  case 8:
    return schema::DType_I8;
  case 16:
    return schema::DType_I16;
  case 32:
    return schema::DType_I32;
  case 64:
    return schema::DType_I64;
  default:
    return std::nullopt;
  }
}

std::optional<unsigned> mlir::fuseops::getProgramDType(Type elementType) {
  using Result = std::optional<unsigned>;
  return llvm::TypeSwitch<Type, Result>(elementType)
      .Case([](Float64Type) { return Result(schema::DType_F64); })
      .Case([](Float32Type) { return Result(schema::DType_F32); })
      .Case([](Float16Type) { return Result(schema::DType_F16); })
      .Case([](BFloat16Type) { return Result(schema::DType_BF16); })
      .Case([](Float8E4M3FNType) { return Result(schema::DType_F8E4M3FN); })
      .Case([](Float8E5M2Type) { return Result(schema::DType_F8E5M2); })
      .Case([](Float8E8M0FNUType) { return Result(schema::DType_F8E8M0FNU); })
      .Case([](IntegerType type) { return getIntegerDType(type); })
      .Default([](Type) { return Result(); });
}
