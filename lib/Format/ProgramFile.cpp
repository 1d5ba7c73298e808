//===- ProgramFile.cpp - The frame around a program's FlatBuffer ----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps/Format/ProgramFile.h"

#include <cstring>

using namespace fuseops::runtime;

static constexpr char kMagic[8] = {'F', 'U', 'S', 'E', 'O', 'P', 'S', 0};

static void putU64(std::string &out, uint64_t value) {
  for (int i = 0; i < 8; ++i)
    out.push_back(static_cast<char>(value >> (8 * i)));
}

static uint64_t getU64(const uint8_t *in) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i)
    value |= static_cast<uint64_t>(in[i]) << (8 * i);
  return value;
}

uint64_t fuseops::runtime::hashProgram(const uint8_t *data, size_t size) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < size; ++i)
    hash = (hash ^ data[i]) * 0x100000001b3ull;
  return hash;
}

std::string fuseops::runtime::wrapProgram(const uint8_t *flatbuffer,
                                          size_t size) {
  std::string file;
  file.reserve(kProgramHeaderSize + size);
  file.append(kMagic, sizeof(kMagic));
  putU64(file, size);
  putU64(file, hashProgram(flatbuffer, size));
  file.append(reinterpret_cast<const char *>(flatbuffer), size);
  return file;
}

bool fuseops::runtime::unwrapProgram(const void *file, size_t size,
                                     const uint8_t *&flatbuffer,
                                     size_t &flatbufferSize,
                                     std::string &error) {
  const auto *bytes = static_cast<const uint8_t *>(file);
  if (size < kProgramHeaderSize) {
    error = "expected a program of at least " +
            std::to_string(kProgramHeaderSize) + " bytes, but got " +
            std::to_string(size);
    return false;
  }
  if (std::memcmp(bytes, kMagic, sizeof(kMagic)) != 0) {
    error = "expected a program that starts with `FUSEOPS`, but it does not";
    return false;
  }
  uint64_t expected = getU64(bytes + 8);
  if (expected != size - kProgramHeaderSize) {
    error = "expected " + std::to_string(expected) +
            " bytes after the header of the program, but got " +
            std::to_string(size - kProgramHeaderSize);
    return false;
  }
  flatbuffer = bytes + kProgramHeaderSize;
  flatbufferSize = size - kProgramHeaderSize;
  if (hashProgram(flatbuffer, flatbufferSize) != getU64(bytes + 16)) {
    error = "the program's bytes do not match its hash; the file is damaged";
    return false;
  }
  return true;
}
