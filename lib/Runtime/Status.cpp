//===- Status.cpp - Statuses and the sentence of the last error -----------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Status.h"

#include <cstdarg>
#include <cstdio>
#include <string>

using namespace fuseops::runtime;

static std::string &lastError() {
  static thread_local std::string error;
  return error;
}

fuseopsStatus fuseops::runtime::fail(fuseopsStatus status, const char *format,
                                     ...) {
  // Long enough for a compiler's log; what is longer is cut.
  char buffer[4096];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof(buffer), format, arguments);
  va_end(arguments);
  try {
    lastError() = buffer;
  } catch (const std::exception &) {
    lastError().clear();
  }
  return status;
}

fuseopsStatus fuseops::runtime::addContext(fuseopsStatus status,
                                           const char *where) {
  std::string error = lastError();
  return fail(status, "%s: %s", where, error.c_str());
}

const char *fuseopsLastError(void) { return lastError().c_str(); }

const char *fuseopsRuntimeVersion(void) { return FUSEOPS_VERSION; }

const char *fuseopsStatusName(fuseopsStatus status) {
  switch (status) {
  case FUSEOPS_OK:
    return "ok";
  case FUSEOPS_INVALID_ARGUMENT:
    return "invalid argument";
  case FUSEOPS_INVALID_PROGRAM:
    return "invalid program";
  case FUSEOPS_UNAVAILABLE:
    return "unavailable";
  case FUSEOPS_RUNTIME_ERROR:
    return "runtime error";
  }
  return "unknown";
}
