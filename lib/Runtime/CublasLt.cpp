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
// FP8 operands are [m, k] and [n, k], the one form that Hopper multiplies.
// Their scales lie as cuBLASLt wants them ("Scaling factors layouts" in its
// documentation): those of rows and of 1x128 run along m and n, those of
// 128x128 along k, in rows of a multiple of 4.
//
//===----------------------------------------------------------------------===//

#include "CublasLt.h"
#include "CublasLtLibrary.h"
#include "ScaledMatmul.h"
#include "Status.h"

#include <algorithm>
#include <memory>
#include <tuple>

using namespace fuseops::runtime;
using namespace fuseops::runtime::cublaslt;

// Shapes whose algorithm is kept. A training run has far fewer.
static constexpr size_t kMaxPlans = 4096;

// What runs guarantee of every tensor.
static constexpr uint32_t kTensorAlignment = 16;

// The version that has scales of rows and of blocks.
static constexpr size_t kScaleKindsVersion = 120900;

namespace {

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
  /// The product is added to the bias, which the output holds before.
  bool addsToBias = false;
  /// The description holds the pointers to the bias and to scales, so that with
  /// them it belongs to one call at a time.
  std::mutex mutex;
};

using Key = std::tuple<unsigned long long, int64_t, int64_t, int64_t, int, int,
                       int, int, bool, bool, int, int, bool, size_t>;

} // namespace

static int getType(fuseopsDType dtype) {
  switch (dtype) {
  case FUSEOPS_F64:
    return kReal64;
  case FUSEOPS_F32:
    return kReal32;
  case FUSEOPS_F16:
    return kReal16;
  case FUSEOPS_F8E4M3FN:
    return kE4M3;
  case FUSEOPS_F8E5M2:
    return kE5M2;
  default:
    return kBfloat16;
  }
}

static int32_t getScaleMode(ScaleKind kind) {
  switch (kind) {
  case ScaleKind::PerTensor:
    return kScaleScalar;
  case ScaleKind::PerRow:
    return kScaleOuterVector;
  case ScaleKind::Block1x128:
    return kScaleVector128;
  case ScaleKind::Block128x128:
    return kScaleBlock128x128;
  }
  return -1;
}

static const char *describeScales(ScaleKind kind) {
  switch (kind) {
  case ScaleKind::PerTensor:
    return "per_tensor";
  case ScaleKind::PerRow:
    return "per_row";
  case ScaleKind::Block1x128:
    return "block<1x128>";
  case ScaleKind::Block128x128:
    return "block<128x128>";
  }
  return "unknown";
}

static bool hasBlockScales(const MatmulArguments &arguments) {
  for (ScaleKind kind : {arguments.aScales.kind, arguments.bScales.kind})
    if (kind == ScaleKind::Block1x128 || kind == ScaleKind::Block128x128)
      return true;
  return false;
}

/// Whether the product is added to the bias in the output, as beta = 1 does in
/// the type that is accumulated in. As an epilogue of rows that aren't whole 16
/// bytes, cuBLASLt may add the bias in a kernel of its own, to the product
/// rounded to the output's type. To a product of FP8 that gives f32 its
/// epilogue adds no f32.
static bool mustAddToBias(const MatmulArguments &arguments) {
  auto isWhole = [](int64_t extent, fuseopsDType dtype) {
    return extent * fuseopsDTypeSize(dtype) % 16 == 0;
  };
  return arguments.bias && arguments.biasType == arguments.outType &&
         ((arguments.isScaled && arguments.outType == FUSEOPS_F32) ||
          !isWhole(arguments.k, arguments.aType) ||
          !isWhole(arguments.k, arguments.bType) ||
          !isWhole(arguments.n, arguments.outType));
}

/// Sets what only products of FP8 have.
template <typename SetFn>
static void describeScaled(const MatmulArguments &arguments, SetFn set) {
  // Older libraries know one scale a tensor only, and no modes.
  auto setMode = [&](int attribute, ScaleKind kind) {
    if (kind != ScaleKind::PerTensor)
      set(attribute, getScaleMode(kind));
  };
  // a and b have changed places.
  setMode(kDescScaleModeA, arguments.bScales.kind);
  setMode(kDescScaleModeB, arguments.aScales.kind);
  set(kDescScalePointerA, arguments.bScales.values);
  set(kDescScalePointerB, arguments.aScales.values);
  // Sums of blocks are added in f32 in any case.
  bool isFast = arguments.fastAccumulate && !hasBlockScales(arguments);
  set(kDescFastAccumulation, static_cast<int8_t>(isFast));
}

/// Describes the product and lets cuBLASLt choose its algorithm, if it has one.
/// Returns cuBLAS' status.
static int describe(Library &library, Handle handle,
                    const MatmulArguments &arguments, size_t workspaceBytes,
                    Plan &plan, bool &isFound) {
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
  if (arguments.isScaled)
    describeScaled(arguments, set);
  if (arguments.bias && !plan.addsToBias) {
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
  isFound = result == 0 && found != 0;
  plan.algorithm = heuristic.algorithm;
  return result;
}

static fuseopsStatus failWithoutProduct(const MatmulArguments &arguments,
                                        int result) {
  std::string scales;
  if (arguments.isScaled)
    scales = std::string(" with scales ") +
             describeScales(arguments.aScales.kind) + " and " +
             describeScales(arguments.bScales.kind);
  return fail(
      FUSEOPS_UNAVAILABLE,
      "cuBLASLt has no %lld x %lld x %lld product of %s and %s%s that "
      "gives %s%s%s (status %d)",
      static_cast<long long>(arguments.m), static_cast<long long>(arguments.n),
      static_cast<long long>(arguments.k), fuseopsDTypeName(arguments.aType),
      fuseopsDTypeName(arguments.bType), scales.c_str(),
      fuseopsDTypeName(arguments.outType),
      arguments.bias ? " with a bias of " : "",
      arguments.bias ? fuseopsDTypeName(arguments.biasType) : "", result);
}

/// Whether the library knows the scales at all.
static fuseopsStatus checkVersion(const Library &library,
                                  const MatmulArguments &arguments) {
  size_t version = library.getVersion();
  bool isPlain = arguments.aScales.kind == ScaleKind::PerTensor &&
                 arguments.bScales.kind == ScaleKind::PerTensor;
  if (isPlain || version >= kScaleKindsVersion)
    return FUSEOPS_OK;
  return fail(FUSEOPS_UNAVAILABLE,
              "expected cuBLASLt 12.9 or later, which multiplies FP8 with "
              "scales of rows and of blocks, but got version %zu.%zu.%zu",
              version / 10000, version / 100 % 100, version % 100);
}

/// Finds how to run the product. Where cuBLASLt has no epilogue for the bias,
/// the output holds it before.
static fuseopsStatus buildPlan(Library &library, Handle handle,
                               const MatmulArguments &arguments,
                               size_t workspaceBytes,
                               std::shared_ptr<Plan> &plan) {
  if (fuseopsStatus status = checkVersion(library, arguments))
    return status;
  int result = 0;
  bool isFound = false;
  for (bool addsToBias : {false, true}) {
    if (addsToBias ? !arguments.bias || arguments.biasType != arguments.outType
                   : mustAddToBias(arguments))
      continue;
    plan = std::make_shared<Plan>(library);
    plan->addsToBias = addsToBias;
    result =
        describe(library, handle, arguments, workspaceBytes, *plan, isFound);
    if (isFound)
      return FUSEOPS_OK;
  }
  return failWithoutProduct(arguments, result);
}

/// The plan for this product in this context, built on first use.
static fuseopsStatus findPlan(Library &library, const CudaScope &scope,
                              Handle handle, const MatmulArguments &arguments,
                              size_t workspaceBytes,
                              std::shared_ptr<Plan> &plan) {
  static auto *mutex = new std::mutex;
  static auto *plans = new std::map<Key, std::shared_ptr<Plan>>;
  Key key(scope.contextId, arguments.m, arguments.n, arguments.k,
          arguments.aType, arguments.bType, arguments.outType,
          arguments.bias ? arguments.biasType : -1, arguments.transposeA,
          arguments.transposeB, getScaleMode(arguments.aScales.kind),
          getScaleMode(arguments.bScales.kind), arguments.fastAccumulate,
          workspaceBytes);
  {
    std::lock_guard<std::mutex> lock(*mutex);
    auto found = plans->find(key);
    if (found != plans->end()) {
      plan = found->second;
      return FUSEOPS_OK;
    }
  }
  std::shared_ptr<Plan> built;
  if (fuseopsStatus status =
          buildPlan(library, handle, arguments, workspaceBytes, built))
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

namespace {
/// A product of one row that adds a bias, as one of that row twice: for one row
/// cuBLASLt has kernels that add the bias to the product rounded to the
/// output's type. The rows lie at the beginning of the workspace, which shrinks
/// by them.
class TwoRows {
public:
  TwoRows(const MatmulArguments &arguments, void *&workspace,
          size_t &workspaceBytes)
      : arguments(arguments), product(arguments),
        operandBytes(arguments.k * fuseopsDTypeSize(arguments.aType)),
        resultBytes(arguments.n * fuseopsDTypeSize(arguments.outType)) {
    auto align = [](size_t bytes) { return (bytes + 255) / 256 * 256; };
    size_t operands = align(2 * operandBytes), results = align(2 * resultBytes);
    if (operands + results > workspaceBytes)
      return;
    auto *base = static_cast<char *>(workspace);
    product.a = base;
    product.out = base + operands;
    product.m = 2;
    product.transposeA = false;
    workspace = base + operands + results;
    workspaceBytes -= operands + results;
  }

  const MatmulArguments &get() const { return product; }

  fuseopsStatus copyOperand(const CudaScope &scope, CudaStream stream) const {
    for (size_t row = 0; row < 2; ++row)
      if (fuseopsStatus status =
              copy(scope, address(product.a) + row * operandBytes,
                   address(arguments.a), operandBytes, stream))
        return status;
    return FUSEOPS_OK;
  }
  fuseopsStatus copyResult(const CudaScope &scope, CudaStream stream) const {
    return copy(scope, address(arguments.out), address(product.out),
                resultBytes, stream);
  }

private:
  static uintptr_t address(const void *pointer) {
    return reinterpret_cast<uintptr_t>(pointer);
  }
  fuseopsStatus copy(const CudaScope &scope, uintptr_t to, uintptr_t from,
                     size_t bytes, CudaStream stream) const {
    if (product.m == 1)
      return FUSEOPS_OK;
    return scope.driver->check(
        scope.driver->copyOnDevice(to, from, bytes, stream), "copying a row");
  }

  const MatmulArguments &arguments;
  MatmulArguments product;
  size_t operandBytes, resultBytes;
};
} // namespace

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

/// Enqueues a product whose plan is found.
static fuseopsStatus runPlan(const CudaScope &scope, const Library &library,
                             Handle handle, Plan &plan,
                             const MatmulArguments &arguments, void *workspace,
                             size_t workspaceBytes, CudaStream stream) {
  double one64 = 1, zero64 = 0;
  float one32 = 1, zero32 = 0;
  bool isDouble = arguments.aType == FUSEOPS_F64;
  const void *one = isDouble ? static_cast<void *>(&one64) : &one32;
  const void *zero = isDouble ? static_cast<void *>(&zero64) : &zero32;
  std::unique_lock<std::mutex> lock(plan.mutex, std::defer_lock);
  int result = 0;
  auto set = [&](int attribute, const void *pointer) {
    if (result == 0)
      result = library.setDescription(plan.description, attribute, &pointer,
                                      sizeof(pointer));
  };
  if (plan.addsToBias)
    if (fuseopsStatus status = fillWithBias(scope, arguments, stream))
      return status;
  bool hasEpilogue = arguments.bias && !plan.addsToBias;
  if (hasEpilogue || arguments.isScaled)
    lock.lock();
  if (hasEpilogue)
    set(kDescBiasPointer, arguments.bias);
  if (arguments.isScaled) {
    set(kDescScalePointerA, arguments.bScales.values);
    set(kDescScalePointerB, arguments.aScales.values);
  }
  if (result == 0)
    result = library.matmul(handle, plan.description, one, arguments.b, plan.b,
                            arguments.a, plan.a, plan.addsToBias ? one : zero,
                            arguments.out, plan.out, arguments.out, plan.out,
                            &plan.algorithm, workspace, workspaceBytes, stream);
  if (result != 0)
    return fail(FUSEOPS_RUNTIME_ERROR,
                "the product of cuBLASLt failed with status %d", result);
  return FUSEOPS_OK;
}

fuseopsStatus fuseops::runtime::runCublasLt(const CudaScope &scope,
                                            const MatmulArguments &arguments,
                                            void *workspace,
                                            size_t workspaceBytes,
                                            void *padding, CudaStream stream) {
  if (arguments.m == 0 || arguments.n == 0)
    return FUSEOPS_OK;
  if (arguments.k == 0)
    return fillWithoutTerms(scope, arguments, stream);
  if (arguments.aType != arguments.bType && !arguments.isScaled)
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
  auto run = [&](const MatmulArguments &product) -> fuseopsStatus {
    std::shared_ptr<Plan> plan;
    if (fuseopsStatus status =
            findPlan(*library, scope, handle, product, workspaceBytes, plan))
      return status;
    return runPlan(scope, *library, handle, *plan, product, workspace,
                   workspaceBytes, stream);
  };
  if (!arguments.isScaled && (!arguments.bias || arguments.m > 1))
    return run(arguments);
  if (!arguments.isScaled) {
    TwoRows rows(arguments, workspace, workspaceBytes);
    if (fuseopsStatus status = rows.copyOperand(scope, stream))
      return status;
    if (fuseopsStatus status = run(rows.get()))
      return status;
    return rows.copyResult(scope, stream);
  }
  PaddedMatmul padded(arguments);
  if (fuseopsStatus status = padded.copyOperands(scope, padding, stream))
    return status;
  if (fuseopsStatus status = run(padded.get()))
    return status;
  return padded.copyResult(scope, stream);
}
