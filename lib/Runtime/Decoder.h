//===- Decoder.h - Decodes a program file ---------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_RUNTIME_DECODER_H
#define FUSEOPS_LIB_RUNTIME_DECODER_H

#include "FuseOps/Format/Program_generated.h"
#include "Program.h"

#include <cstring>
#include <map>
#include <set>

namespace fuseops {
namespace runtime {

/// Copies a structure of the file. In a damaged one it may lie at an odd
/// address, which the verifier does not see.
template <typename Struct>
Struct copyStruct(const Struct *in) {
  Struct out;
  std::memcpy(static_cast<void *>(&out), static_cast<const void *>(in),
              sizeof(Struct));
  return out;
}

/// Decodes one program. Each function returns false once the last error is
/// set.
class Decoder {
public:
  Decoder(Program &program) : program(program) {}

  fuseopsStatus decode(const schema::Program &file);

private:
  bool invalid(const char *format, ...) __attribute__((format(printf, 2, 3)));
  bool decodeExtent(const schema::Extent *in, const char *what,
                    fuseopsExtent &out);
  bool decodeTensor(const schema::Tensor &in, Tensor &out);
  bool decodeGrid(const schema::Grid *in, Grid &out);
  bool decodeTensorMap(const schema::TensorMap &in, const KernelStep &kernel,
                       TensorMap &out);
  bool decodeKernel(const schema::KernelStep &in, KernelStep &out);
  bool decodeMatmul(const schema::MatmulStep &in, MatmulStep &out);
  bool decodeStep(const schema::Step &in, Step &out);
  bool decodeCode(const schema::Code &in, Code &out);
  bool decodeEntry(const schema::Entry &in);
  bool resolveAliases();
  bool resolveInputs(const schema::Entry &in);
  bool resolveOutputs(const schema::Entry &in);
  bool checkSizes(int64_t symbol);
  bool isTensor(int32_t index) const {
    return index >= 0 && static_cast<size_t>(index) < entry->tensors.size();
  }

  Program &program;
  Entry *entry = nullptr;
  /// Where in the program the decoder is, for the sentence.
  std::string where;
  std::map<std::string, int32_t> kernelIndices;
  std::set<std::string> stepNames;
};

} // namespace runtime
} // namespace fuseops

#endif // FUSEOPS_LIB_RUNTIME_DECODER_H
