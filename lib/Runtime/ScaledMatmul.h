//===- ScaledMatmul.h - What a library wants of FP8 operands -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// cuBLASLt multiplies FP8 matrices whose rows are whole 16 bytes. Others, and
// their scales, are copied into zeros; so is the result, back.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_RUNTIME_SCALEDMATMUL_H
#define FUSEOPS_LIB_RUNTIME_SCALEDMATMUL_H

#include "CudaDriver.h"
#include "Matmul.h"

namespace fuseops {
namespace runtime {

/// What m, n and k of a product of FP8 are at most.
constexpr int64_t kLargestScaledSize = int64_t(1) << 28;

/// How many scales a matrix has; `pitch` is how long a row of scales of blocks
/// of 128x128 is.
int64_t countScales(ScaleKind kind, int64_t rows, int64_t columns,
                    int64_t pitch);

/// A product whose operands have the sizes that cuBLASLt wants.
class PaddedMatmul {
public:
  PaddedMatmul(const MatmulArguments &arguments);

  /// What it needs of memory, which is aligned to 256 bytes.
  int64_t countBytes() const;
  /// Enqueues the copies of the operands into `memory`.
  fuseopsStatus copyOperands(const CudaScope &scope, void *memory,
                             CudaStream stream);
  /// The product of the copies.
  const MatmulArguments &get() const { return padded; }
  /// Enqueues the copy of the result.
  fuseopsStatus copyResult(const CudaScope &scope, CudaStream stream) const;

private:
  /// A matrix of bytes as it is and as it has to be.
  struct Piece {
    int64_t rows, rowBytes;
    int64_t paddedRows, paddedRowBytes;

    bool isPadded() const {
      return rows != paddedRows || rowBytes != paddedRowBytes;
    }
  };

  const MatmulArguments &given;
  MatmulArguments padded;
  Piece a, b, aScale, bScale, bias, out;
};

} // namespace runtime
} // namespace fuseops

#endif // FUSEOPS_LIB_RUNTIME_SCALEDMATMUL_H
