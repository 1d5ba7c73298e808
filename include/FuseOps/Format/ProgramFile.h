//===- ProgramFile.h - The frame around a program's FlatBuffer ------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program file is
//   8 bytes   "FUSEOPS\0"
//   8 bytes   size of the FlatBuffer, little endian
//   8 bytes   64-bit FNV-1a hash of the FlatBuffer, little endian
//   the FlatBuffer (Program.fbs), and nothing after it.
// The hash finds altered machine code, which no verifier could, before it runs.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_FORMAT_PROGRAMFILE_H
#define FUSEOPS_FORMAT_PROGRAMFILE_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace fuseops {
namespace runtime {

/// The schema version that this runtime reads and the compiler must write into
/// `Program.version`.
constexpr uint32_t kProgramVersion = 4;

/// Bytes before the FlatBuffer.
constexpr size_t kProgramHeaderSize = 24;

/// 64-bit FNV-1a.
uint64_t hashProgram(const uint8_t *data, size_t size);

/// The program file that holds this finished FlatBuffer.
std::string wrapProgram(const uint8_t *flatbuffer, size_t size);

/// Finds the FlatBuffer in a program file. Returns false and a sentence in
/// `error` if the header, the size or the hash is wrong.
bool unwrapProgram(const void *file, size_t size, const uint8_t *&flatbuffer,
                   size_t &flatbufferSize, std::string &error);

} // namespace runtime
} // namespace fuseops

#endif // FUSEOPS_FORMAT_PROGRAMFILE_H
