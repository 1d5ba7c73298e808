//===- Machine.cpp - The devices of this machine
//-----------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <unistd.h>

using namespace mlir::fuseops;
using namespace fuserun;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

std::string fuserun::getDeviceText(decltype(fuseopsDeviceName) *ask,
                                   int32_t deviceType, int32_t device) {
  char text[256] = "";
  ask(deviceType, device, text, sizeof(text));
  return text;
}

static std::string getCpuName() {
  if (auto file = llvm::MemoryBuffer::getFileAsStream("/proc/cpuinfo")) {
    StringRef text = (*file)->getBuffer();
    StringRef line = text.substr(text.find("model name")).split('\n').first;
    if (StringRef name = line.split(':').second.trim(); !name.empty())
      return name.str();
  }
  return getDeviceText(fuseopsDeviceName, kDLCPU, 0);
}

std::string fuserun::getChip(int32_t deviceType) {
  return deviceType == kDLCPU ? getCpuName()
                              : getDeviceText(fuseopsDeviceName, deviceType, 0);
}

Error fuserun::prepareTarget(TargetSpec &target, bool namesChip) {
  if (!target.isCUDA())
    return Error::success();
  int32_t count = 0;
  if (Error error = toError(fuseopsDeviceCount(kDLCUDA, &count)))
    return error;
  if (count == 0)
    return llvm::createStringError("this machine has no CUDA device");
  if (namesChip)
    return Error::success();
  std::string arch = getDeviceText(fuseopsDeviceArch, kDLCUDA, 0);
  int number = 0;
  // From Hopper on, the chip's own instructions need the `a`.
  if (!StringRef(arch).substr(3).getAsInteger(10, number) && number >= 90)
    arch += "a";
  if (!arch.empty())
    target.arch = arch;
  return Error::success();
}

Error fuserun::checkMemory(const Session &session) {
  Expected<double> needed = session.countHostBytes();
  if (!needed)
    return needed.takeError();
  auto available = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                   static_cast<double>(sysconf(_SC_PAGESIZE));
  if (*needed <= available)
    return Error::success();
  constexpr double kGiB = 1 << 30;
  return llvm::createStringError(
      llvm::formatv("size {0} needs {1:F1} GiB of memory, but this machine has "
                    "{2:F1} GiB",
                    session.getSize(), *needed / kGiB, available / kGiB)
          .str());
}
