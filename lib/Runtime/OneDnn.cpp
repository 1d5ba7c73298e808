//===- OneDnn.cpp - Matrix products by oneDNN, loaded at run time --------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Matmul.h"

#if defined(FUSEOPS_HAVE_ONEDNN)

#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.h>
#include <tuple>
#include <vector>

using namespace fuseops::runtime;

// Shapes whose primitives are kept. A training run has far fewer.
static constexpr size_t kMaxPrimitives = 512;

namespace {

/// The functions of libdnnl that are used, and its engine.
struct OneDnn {
  static OneDnn *get();

  decltype(&dnnl_engine_create) engineCreate;
  decltype(&dnnl_stream_create) streamCreate;
  decltype(&dnnl_memory_desc_init_by_strides) describe;
  decltype(&dnnl_matmul_desc_init) describeMatmul;
  decltype(&dnnl_primitive_attr_create) createAttributes;
  decltype(&dnnl_primitive_attr_destroy) destroyAttributes;
  decltype(&dnnl_primitive_attr_set_scratchpad_mode) setScratchpadMode;
  decltype(&dnnl_primitive_attr_set_fpmath_mode) setMathMode;
  decltype(&dnnl_primitive_desc_create) createDescription;
  decltype(&dnnl_primitive_desc_destroy) destroyDescription;
  decltype(&dnnl_primitive_desc_query_md) queryMemory;
  decltype(&dnnl_memory_desc_get_size) getSize;
  decltype(&dnnl_primitive_create) createPrimitive;
  decltype(&dnnl_primitive_destroy) destroyPrimitive;
  decltype(&dnnl_primitive_execute) execute;
  decltype(&dnnl_memory_create) createMemory;
  decltype(&dnnl_memory_destroy) destroyMemory;
  decltype(&dnnl_stream_wait) wait;
  decltype(&dnnl_stream_destroy) destroyStream;
  dnnl_engine_t engine = nullptr;

private:
  bool load();
};

/// A product of one shape; no primitive where oneDNN cannot run it.
struct Product {
  ~Product() {
    if (primitive)
      OneDnn::get()->destroyPrimitive(primitive);
  }
  dnnl_primitive_t primitive = nullptr;
  dnnl_memory_desc_t a, b, bias, out, scratchpad;
  size_t scratchpadBytes = 0;
};

using Key =
    std::tuple<int64_t, int64_t, int64_t, int, int, int, int, bool, bool>;

/// A memory object of the caller's bytes, for one execution.
class Memory {
public:
  Memory(const OneDnn &library, const dnnl_memory_desc_t &description,
         const void *data)
      : library(library) {
    isValid = library.createMemory(&handle, &description, library.engine,
                                   const_cast<void *>(data)) == dnnl_success;
  }
  ~Memory() {
    if (isValid)
      library.destroyMemory(handle);
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  const OneDnn &library;
  dnnl_memory_t handle = nullptr;
  bool isValid;
};

} // namespace

bool OneDnn::load() {
  void *library = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return false;
  bool isComplete = true;
  auto find = [&](auto &function, const char *name) {
    void *symbol = dlsym(library, name);
    isComplete &= symbol != nullptr;
    function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
  };
  find(engineCreate, "dnnl_engine_create");
  find(streamCreate, "dnnl_stream_create");
  find(describe, "dnnl_memory_desc_init_by_strides");
  find(describeMatmul, "dnnl_matmul_desc_init");
  find(createAttributes, "dnnl_primitive_attr_create");
  find(destroyAttributes, "dnnl_primitive_attr_destroy");
  find(setScratchpadMode, "dnnl_primitive_attr_set_scratchpad_mode");
  find(setMathMode, "dnnl_primitive_attr_set_fpmath_mode");
  find(createDescription, "dnnl_primitive_desc_create");
  find(destroyDescription, "dnnl_primitive_desc_destroy");
  find(queryMemory, "dnnl_primitive_desc_query_md");
  find(getSize, "dnnl_memory_desc_get_size");
  find(createPrimitive, "dnnl_primitive_create");
  find(destroyPrimitive, "dnnl_primitive_destroy");
  find(execute, "dnnl_primitive_execute");
  find(createMemory, "dnnl_memory_create");
  find(destroyMemory, "dnnl_memory_destroy");
  find(wait, "dnnl_stream_wait");
  find(destroyStream, "dnnl_stream_destroy");
  return isComplete && engineCreate(&engine, dnnl_cpu, 0) == dnnl_success;
}

OneDnn *OneDnn::get() {
  // Never unloaded: its own threads may outlive every program.
  static OneDnn *library = []() -> OneDnn * {
    auto *result = new OneDnn();
    return result->load() ? result : nullptr;
  }();
  return library;
}

static dnnl_data_type_t getType(fuseopsDType dtype) {
  switch (dtype) {
  case FUSEOPS_F32:
    return dnnl_f32;
  case FUSEOPS_F16:
    return dnnl_f16;
  case FUSEOPS_BF16:
    return dnnl_bf16;
  default:
    return dnnl_data_type_undef;
  }
}

/// Describes a matrix of rows x columns that is stored transposed or not.
static bool describeMatrix(const OneDnn &library, dnnl_memory_desc_t &out,
                           int64_t rows, int64_t columns, fuseopsDType dtype,
                           bool isTransposed) {
  dnnl_dims_t sizes = {rows, columns};
  dnnl_dims_t strides = {isTransposed ? 1 : columns, isTransposed ? rows : 1};
  return library.describe(&out, 2, sizes, getType(dtype), strides) ==
         dnnl_success;
}

/// Builds the primitive; leaves it empty where oneDNN cannot run the product.
static void build(const OneDnn &library, const MatmulArguments &arguments,
                  Product &product) {
  if (!describeMatrix(library, product.a, arguments.m, arguments.k,
                      arguments.aType, arguments.transposeA) ||
      !describeMatrix(library, product.b, arguments.k, arguments.n,
                      arguments.bType, arguments.transposeB) ||
      !describeMatrix(library, product.out, arguments.m, arguments.n,
                      arguments.outType, false) ||
      (arguments.bias && !describeMatrix(library, product.bias, 1, arguments.n,
                                         arguments.biasType, false)))
    return;
  dnnl_matmul_desc_t description;
  if (library.describeMatmul(&description, &product.a, &product.b,
                             arguments.bias ? &product.bias : nullptr,
                             &product.out) != dnnl_success)
    return;
  dnnl_primitive_attr_t attributes;
  if (library.createAttributes(&attributes) != dnnl_success)
    return;
  // The library's own scratchpad may be used by one thread only.
  dnnl_primitive_desc_t implementation;
  bool isBuilt =
      library.setScratchpadMode(attributes, dnnl_scratchpad_mode_user) ==
          dnnl_success &&
      library.setMathMode(attributes, dnnl_fpmath_mode_strict) ==
          dnnl_success &&
      library.createDescription(&implementation, &description, attributes,
                                library.engine, nullptr) == dnnl_success;
  library.destroyAttributes(attributes);
  if (!isBuilt)
    return;
  if (const dnnl_memory_desc_t *scratchpad =
          library.queryMemory(implementation, dnnl_query_scratchpad_md, 0)) {
    product.scratchpad = *scratchpad;
    product.scratchpadBytes = library.getSize(scratchpad);
  }
  if (library.createPrimitive(&product.primitive, implementation) !=
      dnnl_success)
    product.primitive = nullptr;
  library.destroyDescription(implementation);
}

/// The product for these sizes and types, built on first use.
static std::shared_ptr<Product> findProduct(const OneDnn &library,
                                            const MatmulArguments &arguments) {
  // Never destroyed, as a thread may still run when the process ends.
  static auto *mutex = new std::mutex;
  static auto *products = new std::map<Key, std::shared_ptr<Product>>;
  Key key(arguments.m, arguments.n, arguments.k, arguments.aType,
          arguments.bType, arguments.outType,
          arguments.bias ? arguments.biasType : -1, arguments.transposeA,
          arguments.transposeB);
  {
    std::lock_guard<std::mutex> lock(*mutex);
    auto found = products->find(key);
    if (found != products->end())
      return found->second;
  }
  auto product = std::make_shared<Product>();
  build(library, arguments, *product);
  std::lock_guard<std::mutex> lock(*mutex);
  // Running products hold their own reference.
  if (products->size() >= kMaxPrimitives)
    products->clear();
  return products->emplace(key, std::move(product)).first->second;
}

bool fuseops::runtime::isOneDnnAvailable() { return OneDnn::get() != nullptr; }

bool fuseops::runtime::runOneDnnMatmul(const MatmulArguments &arguments) {
  if (arguments.m == 0 || arguments.n == 0 || arguments.k == 0 ||
      arguments.aType != arguments.bType ||
      getType(arguments.aType) == dnnl_data_type_undef ||
      getType(arguments.outType) == dnnl_data_type_undef ||
      (arguments.bias && getType(arguments.biasType) == dnnl_data_type_undef))
    return false;
  OneDnn *library = OneDnn::get();
  if (!library)
    return false;
  std::shared_ptr<Product> product = findProduct(*library, arguments);
  if (!product->primitive)
    return false;

  static thread_local std::vector<char> scratchpad;
  scratchpad.resize(product->scratchpadBytes + 64);
  auto aligned =
      (reinterpret_cast<uintptr_t>(scratchpad.data()) + 63) / 64 * 64;
  Memory a(*library, product->a, arguments.a);
  Memory b(*library, product->b, arguments.b);
  Memory out(*library, product->out, arguments.out);
  Memory bias(*library, arguments.bias ? product->bias : product->out,
              arguments.bias ? arguments.bias : arguments.out);
  Memory scratch(*library,
                 product->scratchpadBytes ? product->scratchpad : product->out,
                 product->scratchpadBytes ? reinterpret_cast<void *>(aligned)
                                          : arguments.out);
  if (!a.isValid || !b.isValid || !out.isValid || !bias.isValid ||
      !scratch.isValid)
    return false;
  std::vector<dnnl_exec_arg_t> list = {{DNNL_ARG_SRC, a.handle},
                                       {DNNL_ARG_WEIGHTS, b.handle},
                                       {DNNL_ARG_DST, out.handle}};
  if (arguments.bias)
    list.push_back({DNNL_ARG_BIAS, bias.handle});
  if (product->scratchpadBytes)
    list.push_back({DNNL_ARG_SCRATCHPAD, scratch.handle});
  dnnl_stream_t stream;
  if (library->streamCreate(&stream, library->engine,
                            dnnl_stream_default_flags) != dnnl_success)
    return false;
  bool isDone = library->execute(product->primitive, stream,
                                 static_cast<int>(list.size()),
                                 list.data()) == dnnl_success &&
                library->wait(stream) == dnnl_success;
  library->destroyStream(stream);
  return isDone;
}

#else // !FUSEOPS_HAVE_ONEDNN

bool fuseops::runtime::isOneDnnAvailable() { return false; }

bool fuseops::runtime::runOneDnnMatmul(const MatmulArguments &) {
  return false;
}

#endif
