//===- SourceFacts.cpp - What a program's source says about its tensors ---===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SourceFacts.h"

#include "FuseOps/Dialect/FuseOps/Contraction.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fuseops;

// How deep uses are followed through layout operations and applied fusibles.
static constexpr unsigned kMaxDepth = 8;

// Room enough to multiply and add sizes in 64 bits.
static constexpr int64_t kMaxTensorBytes = int64_t(1) << 48;

static ArgumentRole getNormRole(OpOperand &use, Value gamma,
                                bool isZeroCentered) {
  if (use.getOperandNumber() == 0)
    return {};
  return {use.get() == gamma && !isZeroCentered ? StringRef("gamma")
                                                : StringRef("bias")};
}

/// The length of a matrix product's sums, 0 if it is symbolic.
static int64_t getContraction(Value factor, bool isTransposed) {
  auto type = dyn_cast<ShapedType>(factor.getType());
  if (!type || type.getRank() < 2)
    return 0;
  int64_t length = isTransposed ? type.getShape().back() : type.getDimSize(0);
  return ShapedType::isDynamic(length) ? 0 : length;
}

static ArgumentRole getRole(Value value, unsigned depth);

/// What the operand that `use` is, is for.
static ArgumentRole getRole(OpOperand &use, unsigned depth) {
  unsigned number = use.getOperandNumber();
  return llvm::TypeSwitch<Operation *, ArgumentRole>(use.getOwner())
      .Case([&](RmsNormOp op) {
        return getNormRole(use, op.getGamma(), op.getZeroCenteredGamma());
      })
      .Case([&](LayerNormOp op) {
        return getNormRole(use, op.getGamma(), op.getZeroCenteredGamma());
      })
      .Case([&](LinearOp op) -> ArgumentRole {
        if (number == 1)
          return {"weight", getContraction(op.getWeight(), true)};
        return {number == 2 ? StringRef("bias") : StringRef("data")};
      })
      .Case([&](MatmulOp op) -> ArgumentRole {
        if (number == 1)
          return {"weight", getContraction(op.getRhs(), op.getTransposeRhs())};
        return {};
      })
      .Case([&](BiasOp) {
        return ArgumentRole{number == 1 ? StringRef("bias")
                                        : StringRef("data")};
      })
      .Case<ReshapeOp, CastOp>(
          [&](Operation *op) { return getRole(op->getResult(0), depth + 1); })
      .Case([&](GroupOp op) {
        return getRole(op.getBody().getArgument(number), depth + 1);
      })
      .Case([&](ApplyOp op) {
        auto callee = SymbolTable::lookupNearestSymbolFrom<FusibleOp>(
            op, op.getCalleeAttr());
        return callee
                   ? getRole(callee.getForward().getArgument(number), depth + 1)
                   : ArgumentRole();
      })
      .Default([](Operation *) { return ArgumentRole(); });
}

/// The first use that says something decides.
static ArgumentRole getRole(Value value, unsigned depth) {
  if (depth > kMaxDepth)
    return {};
  for (OpOperand &use : value.getUses())
    if (ArgumentRole role = getRole(use, depth); role.role != "data")
      return role;
  return {};
}

SmallVector<ArgumentRole> mlir::fuseops::getArgumentRoles(FusibleOp fusible) {
  SmallVector<ArgumentRole> roles;
  for (BlockArgument argument : fusible.getForward().getArguments()) {
    if (auto quantized = dyn_cast<QuantizedType>(argument.getType())) {
      // Each copy is its data, then its scale_inv.
      for (size_t i = 0; i < quantized.getParts().size(); ++i)
        roles.push_back({i % 2 ? StringRef("scale_inv") : StringRef("data")});
      continue;
    }
    std::optional<ArrayAttr> attrs = fusible.getArgAttrs();
    if (attrs && cast<DictionaryAttr>((*attrs)[argument.getArgNumber()])
                     .contains(kRandomStateAttr))
      roles.push_back({"random_state"});
    else if (isa<IntegerType>(getElementTypeOrSelf(argument.getType())))
      roles.push_back({"index"});
    else
      roles.push_back(getRole(argument, 0));
  }
  return roles;
}

/// `type` as a matrix of its rows.
static std::pair<Extent, int64_t> getMatrix(RankedTensorType type) {
  return {getNumElements(type, type.getRank() ? 1 : 0), getColumns(type)};
}

/// Adds the reductions that `op` does, as the shapes it reads and writes show.
static void addReductions(Operation *op, function_ref<void(Extent)> add) {
  if (std::optional<Contraction> product = Contraction::get(op)) {
    auto quantized = dyn_cast<QuantizedType>(product->lhs.getType());
    auto [rows, columns] = getMatrix(
        quantized ? quantized.getTensorType(Float32Type::get(op->getContext()))
                  : cast<RankedTensorType>(product->lhs.getType()));
    return add(product->transposeLhs ? rows : Extent{columns});
  }
  if (auto scaled = dyn_cast<ScaledMatmulOp>(op))
    return add(getExtent(scaled.getLhs().getType(), 1));
  SmallVector<RankedTensorType> tensors;
  for (Value value : op->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      tensors.push_back(type);
  size_t numOperands = tensors.size();
  for (Type result : op->getResultTypes())
    if (auto type = dyn_cast<RankedTensorType>(result))
      tensors.push_back(type);
  // The matrix that is reduced: the one with most rows, then most columns.
  std::pair<Extent, int64_t> largest = {{0, 0}, 0};
  auto key = [](std::pair<Extent, int64_t> matrix) {
    return std::tuple(matrix.first.getGrowth(), matrix.first.constant,
                      matrix.second);
  };
  for (RankedTensorType type : tensors)
    if (auto matrix = getMatrix(type); key(matrix) > key(largest))
      largest = matrix;
  for (RankedTensorType type : tensors)
    if (auto [rows, columns] = getMatrix(type);
        rows == largest.first && columns == 1 && largest.second > 1)
      add({largest.second, 0});
  for (RankedTensorType type : ArrayRef(tensors).drop_front(numOperands))
    if (getMatrix(type).first != largest.first)
      add(largest.first);
}

SmallVector<Extent> mlir::fuseops::getReductionLengths(FusibleOp fusible) {
  SmallVector<Extent> lengths;
  fusible.walk([&](Operation *op) {
    if (op == fusible || isa<GroupOp>(op))
      return;
    addReductions(op, [&](Extent length) {
      if (!llvm::is_contained(lengths, length))
        lengths.push_back(length);
    });
  });
  return lengths;
}

/// The less precise of two types. A power of two is a scale, not a rounded
/// value.
static FloatType getLessPrecise(FloatType a, FloatType b) {
  if (!b || isa<Float8E8M0FNUType>(b))
    return a;
  return !a || b.getFPMantissaWidth() < a.getFPMantissaWidth() ? b : a;
}

namespace {

/// Follows roundings through the values of a program.
class PrecisionFlow {
public:
  /// Enters a value that depends on roundings to `inherited` too.
  void enter(Value value, FloatType inherited) {
    Type element = getElementTypeOrSelf(value.getType());
    auto quantized = dyn_cast<QuantizedType>(value.getType());
    if (quantized)
      element = quantized.getElementType();
    scales[value] = inherited;
    types[value] = getLessPrecise(inherited, dyn_cast<FloatType>(element));
  }

  void visit(Operation &op) {
    // A scale_inv is computed from values before they are rounded to FP8.
    if (auto unpack = dyn_cast<UnpackQuantizedOp>(op)) {
      for (auto [part, type] :
           llvm::zip(unpack.getParts(), collect(unpack.getInput())))
        types[part] = scales[part] = type;
      return;
    }
    FloatType inherited;
    for (Value operand : op.getOperands())
      inherited = getLessPrecise(inherited, types.lookup(operand));
    for (Value result : op.getResults())
      enter(result, inherited);
  }

  /// The types of the plain tensors that `value` is at the boundary.
  SmallVector<FloatType> collect(Value value) const {
    if (!value)
      return {FloatType()};
    auto quantized = dyn_cast<QuantizedType>(value.getType());
    if (!quantized)
      return {types.lookup(value)};
    SmallVector<FloatType> parts;
    for (RankedTensorType part : quantized.getParts())
      parts.push_back(
          part.getElementType() == quantized.getElementType()
              ? types.lookup(value)
              : getLessPrecise(scales.lookup(value),
                               dyn_cast<FloatType>(part.getElementType())));
    return parts;
  }

  /// Moves what is known of `from` to `to`, a value of the same type.
  void transfer(Value from, Value to) {
    types[to] = types.lookup(from);
    scales[to] = scales.lookup(from);
  }

private:
  DenseMap<Value, FloatType> types;
  /// Of quantized values: what their scales depend on.
  DenseMap<Value, FloatType> scales;
};

} // namespace

/// Whether a dense tensor fits; a dynamic extent counts as 1.
static bool isOfSoundSize(RankedTensorType type) {
  if (!type.getElementType().isIntOrFloat())
    return true;
  int64_t bytes = getElementBytes(type.getElementType());
  // An empty tensor has extents too: strides are made of them.
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size) &&
        (llvm::MulOverflow(bytes, std::max<int64_t>(size, 1), bytes) ||
         bytes > kMaxTensorBytes))
      return false;
  return true;
}

LogicalResult mlir::fuseops::verifySizes(ModuleOp module) {
  auto verify = [](Value value) -> LogicalResult {
    SmallVector<RankedTensorType> parts;
    if (auto quantized = dyn_cast<QuantizedType>(value.getType()))
      llvm::append_range(parts, quantized.getParts());
    else if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
      parts.push_back(tensor);
    if (llvm::all_of(parts, isOfSoundSize))
      return success();
    return emitError(value.getLoc())
           << "expected a tensor of at most 2^48 bytes, but got "
           << value.getType();
  };
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value value : op->getResults())
      if (failed(verify(value)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        if (failed(verify(argument)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

OutputPrecisions mlir::fuseops::getOutputPrecisions(FusibleOp fusible) {
  PrecisionFlow flow;
  OutputPrecisions result;
  auto visit = [&](Block &block, SmallVectorImpl<FloatType> &outputs,
                   ReturnOp returnOp) {
    for (Operation &op : block.without_terminator())
      flow.visit(op);
    for (Value value : returnOp.getValuesOrNull())
      llvm::append_range(outputs, flow.collect(value));
    for (Value value : returnOp.getSaved())
      llvm::append_range(outputs, flow.collect(value));
  };
  for (BlockArgument argument : fusible.getForward().getArguments())
    flow.enter(argument, FloatType());
  ReturnOp forward = fusible.getForwardReturn();
  visit(fusible.getForward().front(), result.forward, forward);
  if (!fusible.hasBackward())
    return result;
  // Backward gets the gradients of the results, then what forward saved.
  Block &backward = fusible.getBackward().front();
  size_t numGradients = fusible.getGradientTypes().size();
  for (BlockArgument argument :
       backward.getArguments().take_front(numGradients))
    flow.enter(argument, FloatType());
  for (auto [saved, argument] :
       llvm::zip(forward.getSaved(),
                 backward.getArguments().drop_front(numGradients)))
    flow.transfer(saved, argument);
  visit(backward, result.backward, fusible.getBackwardReturn());
  return result;
}
