//===- CublasLt.cpp - Matrix products by cuBLASLt, loaded at run time ----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// cuBLASLt speaks column-major. A packed row-major matrix is, column-major, its
// own transpose, and out^T = op(b)^T * op(a)^T: so b and a change places, and
// the bias over n runs along the columns, as its epilogue wants it.
//
//===----------------------------------------------------------------------===//

#include "CublasLt.h"
#include "Status.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <glob.h>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <vector>

using namespace fuseops::runtime;

// Shapes whose algorithm is kept. A training run has far fewer.
static constexpr size_t kMaxPlans = 4096;

// What runs guarantee of every tensor.
static constexpr uint32_t kTensorAlignment = 16;

// Values of cublasLt.h, cublas_api.h and library_types.h (CUDA 12 and 13).
static constexpr int kReal32 = 0, kReal64 = 1, kReal16 = 2, kBfloat16 = 14;
static constexpr int kCompute32 = 68, kCompute64 = 70;
static constexpr int32_t kOperationNone = 0, kOperationTranspose = 1;
static constexpr int kDescTransA = 3, kDescTransB = 4, kDescEpilogue = 7;
static constexpr int kDescBiasPointer = 8, kDescBiasType = 26;
static constexpr uint32_t kEpilogueBias = 4;
static constexpr int kPreferWorkspace = 1;
static constexpr int kPreferReduction = 3;
// Parts of a product are added in f32, never in the result's type.
static constexpr uint32_t kReduceInComputeType = 2;
static constexpr int kPreferAlignments[] = {5, 6, 7, 8};

namespace {

using Handle = struct CublasLtHandleOpaque *;
using Description = struct CublasLtDescriptionOpaque *;
using Layout = struct CublasLtLayoutOpaque *;
using Preference = struct CublasLtPreferenceOpaque *;

struct Algorithm {
  uint64_t data[8];
};

/// cublasLtMatmulHeuristicResult_t.
struct Heuristic {
  Algorithm algorithm;
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};

/// The functions of libcublasLt, and a handle for each context.
struct Library {
  int (*create)(Handle *);
  int (*createDescription)(Description *, int compute, int scale);
  int (*destroyDescription)(Description);
  int (*setDescription)(Description, int, const void *, size_t);
  int (*createLayout)(Layout *, int type, uint64_t, uint64_t, int64_t);
  int (*destroyLayout)(Layout);
  int (*createPreference)(Preference *);
  int (*destroyPreference)(Preference);
  int (*setPreference)(Preference, int, const void *, size_t);
  int (*findAlgorithm)(Handle, Description, Layout, Layout, Layout, Layout,
                       Preference, int, Heuristic *, int *);
  int (*matmul)(Handle, Description, const void *alpha, const void *a, Layout,
                const void *b, Layout, const void *beta, const void *c, Layout,
                void *d, Layout, const Algorithm *, void *, size_t, CudaStream);

  std::mutex mutex;
  std::map<unsigned long long, Handle> handles;
  std::string error;

  static fuseopsStatus get(Library *&library);
  fuseopsStatus getHandle(const CudaScope &scope, Handle &handle);

private:
  void load();
};

/// A product of one shape in one context.
struct Plan {
  explicit Plan(const Library &library) : library(library) {}
  Plan(const Plan &) = delete;
  Plan &operator=(const Plan &) = delete;
  ~Plan() {
    if (description)
      library.destroyDescription(description);
    for (Layout layout : {a, b, out})
      if (layout)
        library.destroyLayout(layout);
  }

  const Library &library;
  Description description = nullptr;
  Layout a = nullptr, b = nullptr, out = nullptr;
  Algorithm algorithm;
  /// The description holds the pointer to the bias, so that with a bias it
  /// belongs to one call at a time.
  std::mutex mutex;
};

using Key = std::tuple<unsigned long long, int64_t, int64_t, int64_t, int, int,
                       int, bool, bool>;

} // namespace

/// Opens the first library that a pattern of paths names.
static void *openMatching(const std::string &pattern) {
  glob_t found;
  void *library = nullptr;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc && !library; ++i)
      library = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
    globfree(&found);
  }
  return library;
}

/// Looks where CUDA, the loader and Python packages keep cuBLASLt.
static void *openLibrary() {
  if (const char *path = std::getenv("FUSEOPS_CUBLASLT"))
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
  // A framework in this process has one already, where it found it.
  for (const char *name : {"libcublasLt.so.13", "libcublasLt.so.12"})
    if (void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD))
      return library;
  std::vector<std::string> folders;
  if (const char *home = std::getenv("CUDA_HOME"))
    for (const char *folder : {"/lib64/", "/lib/"})
      folders.push_back(std::string(home) + folder);
  folders.emplace_back("/usr/local/cuda/lib64/");
  folders.emplace_back("");
  for (const std::string &folder : folders)
    for (const char *name : {"libcublasLt.so.13", "libcublasLt.so.12"})
      if (void *library =
              dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL))
        return library;
  std::vector<std::string> sites;
  if (const char *list = std::getenv("FUSEOPS_PYTHON_SITE")) {
    std::string paths = list;
    for (size_t begin = 0; begin <= paths.size();) {
      size_t end = std::min(paths.find(':', begin), paths.size());
      if (end > begin)
        sites.push_back(paths.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  if (const char *environment = std::getenv("VIRTUAL_ENV"))
    sites.push_back(std::string(environment) + "/lib/python3*/site-packages");
  for (const char *site :
       {"/opt/*/.venv/lib/python3*/site-packages",
        "/opt/*/lib/python3*/site-packages",
        "/usr/local/lib/python3*/dist-packages",
        "/usr/local/lib/python3*/site-packages",
        "/usr/lib/python3*/dist-packages", "/usr/lib/python3/dist-packages"})
    sites.emplace_back(site);
  for (const std::string &site : sites)
    for (const char *path : {"/nvidia/cu13/lib/libcublasLt.so.13",
                             "/nvidia/cublas/lib/libcublasLt.so.1[23]"})
      if (void *library = openMatching(site + path))
        return library;
  return nullptr;
}

void Library::load() {
  void *library = openLibrary();
  if (!library) {
    error = "cuBLASLt, which runs the program's matrix products, was not "
            "found; FUSEOPS_CUBLASLT may name it";
    return;
  }
  auto find = [&](auto &function, const char *name) {
    void *symbol = dlsym(library, name);
    if (!symbol && error.empty())
      error = std::string("cuBLASLt has no `") + name + "`";
    function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
  };
  find(create, "cublasLtCreate");
  find(createDescription, "cublasLtMatmulDescCreate");
  find(destroyDescription, "cublasLtMatmulDescDestroy");
  find(setDescription, "cublasLtMatmulDescSetAttribute");
  find(createLayout, "cublasLtMatrixLayoutCreate");
  find(destroyLayout, "cublasLtMatrixLayoutDestroy");
  find(createPreference, "cublasLtMatmulPreferenceCreate");
  find(destroyPreference, "cublasLtMatmulPreferenceDestroy");
  find(setPreference, "cublasLtMatmulPreferenceSetAttribute");
  find(findAlgorithm, "cublasLtMatmulAlgoGetHeuristic");
  find(matmul, "cublasLtMatmul");
}

fuseopsStatus Library::get(Library *&library) {
  // Never unloaded, and its handles never destroyed: at the end of the process
  // the driver may be gone before this library.
  static Library *loaded = [] {
    auto *result = new Library();
    result->load();
    return result;
  }();
  library = loaded;
  if (!loaded->error.empty())
    return fail(FUSEOPS_UNAVAILABLE, "%s", loaded->error.c_str());
  return FUSEOPS_OK;
}

fuseopsStatus Library::getHandle(const CudaScope &scope, Handle &handle) {
  std::lock_guard<std::mutex> lock(mutex);
  Handle &known = handles[scope.contextId];
  if (!known)
    if (int result = create(&known)) {
      known = nullptr;
      return fail(FUSEOPS_RUNTIME_ERROR,
                  "starting cuBLASLt failed with status %d", result);
    }
  handle = known;
  return FUSEOPS_OK;
}

static int getType(fuseopsDType dtype) {
  switch (dtype) {
  case FUSEOPS_F64:
    return kReal64;
  case FUSEOPS_F32:
    return kReal32;
  case FUSEOPS_F16:
    return kReal16;
  default:
    return kBfloat16;
  }
}

/// Whether the product is added to the bias in the output, as beta = 1 does in
/// the type that is accumulated in. As an epilogue of one row, or of rows that
/// aren't whole 16 bytes, cuBLASLt may add the bias in a kernel of its own, to
/// the product rounded to the output's type.
static bool addsToBias(const MatmulArguments &arguments) {
  auto isWhole = [](int64_t extent, fuseopsDType dtype) {
    return extent * fuseopsDTypeSize(dtype) % 16 == 0;
  };
  return arguments.bias && arguments.biasType == arguments.outType &&
         (arguments.m == 1 || !isWhole(arguments.k, arguments.aType) ||
          !isWhole(arguments.k, arguments.bType) ||
          !isWhole(arguments.n, arguments.outType));
}

/// Describes the product and lets cuBLASLt choose its algorithm.
static fuseopsStatus buildPlan(Library &library, Handle handle,
                               const MatmulArguments &arguments,
                               size_t workspaceBytes, Plan &plan) {
  bool isDouble = arguments.aType == FUSEOPS_F64;
  int result = library.createDescription(&plan.description,
                                         isDouble ? kCompute64 : kCompute32,
                                         isDouble ? kReal64 : kReal32);
  auto set = [&](int attribute, auto value) {
    if (result == 0)
      result = library.setDescription(plan.description, attribute, &value,
                                      sizeof(value));
  };
  set(kDescTransA, arguments.transposeB ? kOperationTranspose : kOperationNone);
  set(kDescTransB, arguments.transposeA ? kOperationTranspose : kOperationNone);
  if (arguments.bias && !addsToBias(arguments)) {
    set(kDescEpilogue, kEpilogueBias);
    set(kDescBiasType, static_cast<int32_t>(getType(arguments.biasType)));
    set(kDescBiasPointer, arguments.bias);
  }
  auto layout = [&](Layout &out, fuseopsDType dtype, int64_t rows,
                    int64_t columns) {
    if (result == 0)
      result = library.createLayout(&out, getType(dtype),
                                    static_cast<uint64_t>(rows),
                                    static_cast<uint64_t>(columns), rows);
  };
  int64_t m = arguments.m, n = arguments.n, k = arguments.k;
  layout(plan.b, arguments.bType, arguments.transposeB ? k : n,
         arguments.transposeB ? n : k);
  layout(plan.a, arguments.aType, arguments.transposeA ? m : k,
         arguments.transposeA ? k : m);
  layout(plan.out, arguments.outType, n, m);

  Preference preference = nullptr;
  if (result == 0)
    result = library.createPreference(&preference);
  auto prefer = [&](int attribute, auto value) {
    if (result == 0)
      result =
          library.setPreference(preference, attribute, &value, sizeof(value));
  };
  prefer(kPreferWorkspace, static_cast<uint64_t>(workspaceBytes));
  prefer(kPreferReduction, kReduceInComputeType);
  for (int attribute : kPreferAlignments)
    prefer(attribute, kTensorAlignment);
  Heuristic heuristic = {};
  int found = 0;
  if (result == 0)
    result = library.findAlgorithm(handle, plan.description, plan.b, plan.a,
                                   plan.out, plan.out, preference, 1,
                                   &heuristic, &found);
  if (preference)
    library.destroyPreference(preference);
  if (result == 0)
    result = heuristic.state;
  if (result != 0 || found == 0)
    return fail(
        FUSEOPS_UNAVAILABLE,
        "cuBLASLt has no %lld x %lld x %lld product of %s and %s that "
        "gives %s%s%s (status %d)",
        static_cast<long long>(m), static_cast<long long>(n),
        static_cast<long long>(k), fuseopsDTypeName(arguments.aType),
        fuseopsDTypeName(arguments.bType), fuseopsDTypeName(arguments.outType),
        arguments.bias ? " with a bias of " : "",
        arguments.bias ? fuseopsDTypeName(arguments.biasType) : "", result);
  plan.algorithm = heuristic.algorithm;
  return FUSEOPS_OK;
}

/// The plan for this product in this context, built on first use.
static fuseopsStatus findPlan(Library &library, const CudaScope &scope,
                              Handle handle, const MatmulArguments &arguments,
                              size_t workspaceBytes,
                              std::shared_ptr<Plan> &plan) {
  static auto *mutex = new std::mutex;
  static auto *plans = new std::map<Key, std::shared_ptr<Plan>>;
  Key key(scope.contextId, arguments.m, arguments.n, arguments.k,
          arguments.aType, arguments.outType,
          arguments.bias ? arguments.biasType : -1, arguments.transposeA,
          arguments.transposeB);
  {
    std::lock_guard<std::mutex> lock(*mutex);
    auto found = plans->find(key);
    if (found != plans->end()) {
      plan = found->second;
      return FUSEOPS_OK;
    }
  }
  auto built = std::make_shared<Plan>(library);
  if (fuseopsStatus status =
          buildPlan(library, handle, arguments, workspaceBytes, *built))
    return status;
  std::lock_guard<std::mutex> lock(*mutex);
  // Running products hold their own reference.
  if (plans->size() >= kMaxPlans)
    plans->clear();
  plan = plans->emplace(key, std::move(built)).first->second;
  return FUSEOPS_OK;
}

/// Copies the bias, which has the output's type, into every row of the output,
/// into twice as many rows each time.
static fuseopsStatus fillWithBias(const CudaScope &scope,
                                  const MatmulArguments &arguments,
                                  CudaStream stream) {
  const CudaDriver &driver = *scope.driver;
  size_t rowBytes = arguments.n * fuseopsDTypeSize(arguments.outType);
  size_t bytes = arguments.m * rowBytes;
  auto out = reinterpret_cast<uintptr_t>(arguments.out);
  auto bias = reinterpret_cast<uintptr_t>(arguments.bias);
  fuseopsStatus status = driver.check(
      driver.copyOnDevice(out, bias, rowBytes, stream), "copying the bias");
  for (size_t done = rowBytes; !status && done < bytes; done *= 2)
    status =
        driver.check(driver.copyOnDevice(out + done, out,
                                         std::min(done, bytes - done), stream),
                     "copying the bias");
  return status;
}

/// A product over no terms: zeros, or the bias in every row.
static fuseopsStatus fillWithoutTerms(const CudaScope &scope,
                                      const MatmulArguments &arguments,
                                      CudaStream stream) {
  const CudaDriver &driver = *scope.driver;
  size_t rowBytes = arguments.n * fuseopsDTypeSize(arguments.outType);
  auto out = reinterpret_cast<uintptr_t>(arguments.out);
  if (!arguments.bias)
    return driver.check(driver.set(out, 0, arguments.m * rowBytes, stream),
                        "writing zeros");
  if (arguments.biasType != arguments.outType)
    return fail(FUSEOPS_UNAVAILABLE,
                "expected a bias of %s for a product over no terms, but got %s",
                fuseopsDTypeName(arguments.outType),
                fuseopsDTypeName(arguments.biasType));
  return fillWithBias(scope, arguments, stream);
}

fuseopsStatus fuseops::runtime::prepareCublasLt(const CudaScope &scope) {
  Library *library;
  if (fuseopsStatus status = Library::get(library))
    return status;
  Handle handle;
  return library->getHandle(scope, handle);
}

fuseopsStatus fuseops::runtime::runCublasLt(const CudaScope &scope,
                                            const MatmulArguments &arguments,
                                            void *workspace,
                                            size_t workspaceBytes,
                                            CudaStream stream) {
  if (arguments.m == 0 || arguments.n == 0)
    return FUSEOPS_OK;
  if (arguments.k == 0)
    return fillWithoutTerms(scope, arguments, stream);
  if (arguments.aType != arguments.bType)
    return fail(FUSEOPS_UNAVAILABLE,
                "expected both operands of a product on CUDA to have one "
                "dtype, but got %s and %s",
                fuseopsDTypeName(arguments.aType),
                fuseopsDTypeName(arguments.bType));
  Library *library;
  if (fuseopsStatus status = Library::get(library))
    return status;
  Handle handle;
  if (fuseopsStatus status = library->getHandle(scope, handle))
    return status;
  std::shared_ptr<Plan> plan;
  if (fuseopsStatus status =
          findPlan(*library, scope, handle, arguments, workspaceBytes, plan))
    return status;

  double one64 = 1, zero64 = 0;
  float one32 = 1, zero32 = 0;
  bool isDouble = arguments.aType == FUSEOPS_F64;
  const void *one = isDouble ? static_cast<void *>(&one64) : &one32;
  const void *zero = isDouble ? static_cast<void *>(&zero64) : &zero32;
  std::unique_lock<std::mutex> lock(plan->mutex, std::defer_lock);
  int result = 0;
  const void *beta = zero;
  if (addsToBias(arguments)) {
    if (fuseopsStatus status = fillWithBias(scope, arguments, stream))
      return status;
    beta = one;
  } else if (arguments.bias) {
    lock.lock();
    result = library->setDescription(plan->description, kDescBiasPointer,
                                     &arguments.bias, sizeof(void *));
  }
  if (result == 0)
    result = library->matmul(
        handle, plan->description, one, arguments.b, plan->b, arguments.a,
        plan->a, beta, arguments.out, plan->out, arguments.out, plan->out,
        &plan->algorithm, workspace, workspaceBytes, stream);
  if (result != 0)
    return fail(FUSEOPS_RUNTIME_ERROR,
                "the product of cuBLASLt failed with status %d", result);
  return FUSEOPS_OK;
}
