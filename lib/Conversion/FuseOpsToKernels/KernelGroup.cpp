//===- KernelGroup.cpp - A memory group in core operations, ready for a kernel
//===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelGroup.h"

#include "FuseOps/Dialect/FuseOps/Layout.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fuseops;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

FailureOr<KernelGroup> KernelGroup::create(GroupOp group) {
  KernelGroup result;
  result.group = group;
  if (failed(result.findProduct()) || failed(result.decompose()) ||
      failed(result.findSpace()) || failed(result.findLevels()) ||
      failed(result.findStores()))
    return failure();
  return result;
}

static bool isOnlyYielded(Operation &op) {
  return llvm::all_of(op.getUsers(),
                      [](Operation *user) { return isa<YieldOp>(user); });
}

/// Whether only memory gets what `op` gives, maybe joined with other values.
static bool isOnlyWritten(Operation &op) {
  return llvm::all_of(op.getUsers(), [](Operation *user) {
    auto concat = dyn_cast<ConcatOp>(user);
    return isa<YieldOp>(user) ||
           (concat && concat.isScattered() && isOnlyYielded(*concat));
  });
}

LogicalResult KernelGroup::findProduct() {
  if (group.getKernelTemplate() != KernelTemplate::Gemm)
    return success();
  for (Operation &op : group.getBody().front().without_terminator()) {
    std::optional<Product> found = Product::get(&op);
    if (!found)
      continue;
    if (product)
      return op.emitOpError() << "is a second contraction in a group of "
                                 "template `gemm`, which has one";
    product = found;
  }
  if (product)
    return success();
  return group.emitOpError()
         << "expected a contraction in a group of template `gemm`";
}

LogicalResult KernelGroup::decompose() {
  Block &body = group.getBody().front();
  IRRewriter rewriter(group.getContext());
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    if (isa<ReshapeOp>(op) || isProduct(&op))
      continue;
    auto fusible = dyn_cast<FusibleOpInterface>(op);
    if (!fusible)
      return op.emitOpError() << "is not an operation of a memory kernel, so "
                                 "no template but `library` accepts it";
    if (isa<PointwiseOp, ReduceRowsOp, ReduceColumnsOp, ReduceBlocksOp,
            ExpandBlocksOp, SliceOp, PermuteOp, ConcatOp>(op))
      continue;
    decomposeInPlace(fusible, rewriter);
  }
  for (auto reshape : llvm::to_vector(body.getOps<ReshapeOp>())) {
    if (findView(reshape) || isOnlyYielded(*reshape))
      continue;
    // Rows and columns stay, so that the kernel sees one and the same value.
    // Only what names a dimension has to know its shape.
    if (fuseops::getSpace(tensorType(reshape.getInput())) !=
        fuseops::getSpace(tensorType(reshape.getResult())))
      return reshape.emitOpError() << "changes rows or columns within a kernel";
    rewriter.replaceUsesWithIf(reshape, reshape.getInput(), [](OpOperand &use) {
      return !isa<ConcatOp, PermuteOp>(use.getOwner());
    });
  }
  // Pattern: reduce_columns(x) -> x [if x has one column], converted. In a
  // kernel over more columns each lane of a vector would add its copy of the
  // value.
  for (auto reduction : llvm::to_vector(body.getOps<ReduceColumnsOp>())) {
    if (getColumns(tensorType(reduction.getInput())) != 1)
      continue;
    rewriter.setInsertionPoint(reduction);
    Type from = reduction.getInput().getType().getElementType();
    Type to = reduction.getType().getElementType();
    Value same =
        PointwiseOp::build(rewriter, reduction.getLoc(), reduction.getType(),
                           reduction.getInput(),
                           [&](OpBuilder &b, Location l, ValueRange scalars) {
                             return SmallVector<Value>{
                                 convertElement(b, l, scalars[0], from, to)};
                           })
            .getResult(0);
    rewriter.replaceOp(reduction, same);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op) && !isProduct(&op))
      rewriter.eraseOp(&op);
  // What it reads may have been decomposed.
  if (product) {
    product = Product::get(product->op);
    findProductParts();
  }
  return success();
}

/// The halves of the columns where nothing but memory sees them together.
void KernelGroup::findProductParts() {
  Value result = product->getResult();
  auto isHalf = [](Operation *user) {
    auto slice = dyn_cast<SliceOp>(user);
    return slice && fuseops::isHalf(slice);
  };
  bool isHalved = llvm::all_of(result.getUsers(), [&](Operation *user) {
    return isHalf(user) || isa<YieldOp>(user);
  });
  for (Operation *user : result.getUsers())
    if (isHalved && isHalf(user))
      productParts.push_back(
          {user->getResult(0),
           static_cast<int64_t>(cast<SliceOp>(user).getOffset())});
  if (productParts.empty())
    productParts.push_back({result, 0});
}

/// Whether an operation visits its operands and writes them to other places. A
/// permutation does where its own kernel makes the input and only memory gets
/// the result; the planner decides by the same rule. A reshape of a computed
/// value does where it is the result.
static bool isScattered(Operation &op) {
  if (auto concat = dyn_cast<ConcatOp>(op))
    return concat.isScattered();
  auto permute = dyn_cast<PermuteOp>(op);
  if (permute && isAlwaysWrittenThrough(permute))
    return isOnlyWritten(op);
  if (!isa<PermuteOp, ReshapeOp>(op) ||
      !(isa<PermuteOp>(op) ? isOnlyWritten(op) : isOnlyYielded(op)))
    return false;
  Value input = op.getOperand(0);
  while (auto reshape = input.getDefiningOp<ReshapeOp>())
    input = reshape.getInput();
  return !isa<BlockArgument>(input);
}

/// The types of the values whose rows one core operation visits; none where it
/// only says how another reads, or is of `blocks`.
static SmallVector<RankedTensorType>
visitedTypes(Operation &op, const DenseMap<Value, BlockShape> &blocks) {
  if (blocks.contains(op.getResult(0)))
    return isa<ReduceBlocksOp>(op)
               ? SmallVector<RankedTensorType>{tensorType(op.getOperand(0))}
               : SmallVector<RankedTensorType>();
  if (isScattered(op)) {
    // What is moved on is visited where it is computed.
    SmallVector<RankedTensorType> types;
    for (Value operand : op.getOperands()) {
      Operation *giver = skipReshapes(operand).getDefiningOp();
      if (!giver || !isScattered(*giver))
        types.push_back(tensorType(operand));
    }
    return types;
  }
  if (isa<ReduceRowsOp, ReduceColumnsOp, ReduceBlocksOp>(op))
    return {tensorType(op.getOperand(0))};
  auto isYielded = [](Operation *user) { return isa<YieldOp>(user); };
  if (!isa<PointwiseOp, ConcatOp, ExpandBlocksOp>(op) &&
      llvm::none_of(op.getUsers(), isYielded))
    return {};
  return {tensorType(op.getResult(0))};
}

LogicalResult KernelGroup::findSpace() {
  Block &body = group.getBody().front();
  blocks = findBlockValues(body);
  // The kernel visits the rows of whatever has more than one.
  space = {Extent{1, 0}, 1};
  for (Operation &op : body.without_terminator())
    for (RankedTensorType type : visitedTypes(op, blocks))
      if (fuseops::getSpace(type).rows != Extent{1, 0})
        space.rows = fuseops::getSpace(type).rows;
  SmallVector<int64_t> widths;
  for (Operation &op : body.without_terminator()) {
    // What is read in parts is visited in parts.
    if (isProduct(&op) && isHalved())
      continue;
    for (RankedTensorType type : visitedTypes(op, blocks)) {
      IterationSpace own = fuseops::getSpace(type);
      if (own.rows == space.rows)
        widths.push_back(own.columns);
      else if (own.rows != Extent{1, 0})
        return op.emitOpError()
               << "visits other rows than the rest of its kernel";
    }
  }
  space.columns = widths.empty() ? 1 : *llvm::max_element(widths);
  for (Operation &op : body.without_terminator())
    if (failed(verifyReads(op)))
      return failure();
  return success();
}

bool KernelGroup::isPartlyBroadcast(Value value) const {
  if (blocks.contains(value))
    return false;
  Extent rows = fuseops::getSpace(tensorType(value)).rows;
  return rows != space.rows && rows != Extent{1, 0};
}

/// Checks that what an operation reads is where the kernel can read it.
LogicalResult KernelGroup::verifyReads(Operation &op) const {
  auto isComputed = [](Value value) { return !findView(value); };
  bool isPart = llvm::any_of(productParts, [&](const ProductPart &part) {
    return part.value.getDefiningOp() == &op;
  });
  if (isa<SliceOp, PermuteOp>(op) && !isPart && !isScattered(op) &&
      isComputed(op.getResult(0)))
    return op.emitOpError() << "moves a value that its own kernel computes";
  auto concat = dyn_cast<ConcatOp>(op);
  if (concat && concat.isScattered() &&
      llvm::any_of(op.getUsers(), [](Operation *user) {
        return !isa<YieldOp>(user) && !isScattered(*user);
      }))
    return op.emitOpError() << "is read by the kernel that computes it";
  if (concat && !concat.isScattered() &&
      llvm::any_of(concat.getInputs(), isComputed))
    return op.emitOpError() << "joins a value that its own kernel computes";
  if (isa<PointwiseOp, ReduceRowsOp, ReduceColumnsOp>(op) &&
      !blocks.contains(op.getResult(0)))
    for (Value operand : op.getOperands())
      if (blocks.contains(operand) && isComputed(operand))
        return op.emitOpError()
               << "reads as rows what its own kernel computes of blocks";
  if (isa<PointwiseOp>(op))
    for (Value operand : op.getOperands())
      if (isPartlyBroadcast(operand) && isComputed(operand))
        return op.emitOpError()
               << "reads other rows of a value than its kernel computes";
  return success();
}

Access KernelGroup::getPartialAccess(Value value,
                                     RankedTensorType context) const {
  return getAccessIn(*findView(value), context);
}

SmallVector<Access> KernelGroup::getPartAccesses(ConcatOp op) const {
  SmallVector<Access> parts;
  int64_t start = 0;
  for (Value input : op.getInputs()) {
    int64_t count = tensorType(input).getDimSize(op.getDim());
    if (count)
      parts.push_back(getPartialAccessIn(*findView(input), op.getType(),
                                         op.getDim(), start, count));
    start += count;
  }
  return parts;
}

Placement KernelGroup::getPlacement(Value value) const {
  if (blocks.contains(value))
    return Placement::Block;
  IterationSpace own = fuseops::getSpace(tensorType(value));
  bool isNarrow = own.columns == 1 && space.columns != 1;
  if (own.rows == space.rows)
    return isNarrow ? Placement::PerRow : Placement::Full;
  return own.columns == 1 ? Placement::Scalar : Placement::RowVector;
}

/// Takes in what reads the result of a reduction that a finalize kernel ends.
LogicalResult KernelGroup::addFinal(Operation &op) {
  auto pointwise = dyn_cast<PointwiseOp>(op);
  Placement placement = getPlacement(op.getResult(0));
  auto isIn = [&](const DenseSet<Value> &values) {
    return llvm::any_of(op.getOperands(), [&](Value operand) {
      return values.contains(operand);
    });
  };
  if (isIn(rowFinals)) {
    if (!pointwise || placement != Placement::PerRow || isIn(finals))
      return op.emitOpError()
             << "reads a reduction of whole rows within its own kernel, of "
                "whose tiles each has a part";
    rowFinals.insert(op.result_begin(), op.result_end());
  } else {
    bool isOfRow =
        placement == Placement::Full || placement == Placement::PerRow;
    if (!pointwise || (isOfRow && space.rows != Extent{1, 0}))
      return op.emitOpError()
             << "reads a reduction over rows within its own kernel";
    finals.insert(op.result_begin(), op.result_end());
  }
  finalOps.push_back(pointwise);
  return success();
}

LogicalResult KernelGroup::findLevels() {
  for (Operation &op : group.getBody().front().without_terminator()) {
    unsigned level = 0;
    for (Value operand : op.getOperands())
      level = std::max(level, levels.lookup(operand));
    if (llvm::any_of(op.getOperands(),
                     [&](Value operand) { return isFinal(operand); })) {
      if (failed(addFinal(op)))
        return failure();
      continue;
    }
    if (isa<ReduceRowsOp>(op))
      finals.insert(op.getResult(0));
    // What only says how another reads or writes computes nothing, and a
    // product is there before its neighbours.
    if (isa<ReshapeOp, SliceOp, PermuteOp>(op) || isProduct(&op)) {
      levels[op.getResult(0)] = level;
      continue;
    }
    bool isWholeReduction = llvm::all_of(op.getUsers(), [&](Operation *user) {
      auto rows = dyn_cast<ReduceRowsOp>(user);
      return rows && isWhole(rows);
    });
    if (isa<ReduceColumnsOp>(op) && isWholeReduction) {
      levels[op.getResult(0)] = level;
      continue;
    }
    if (isa<ReduceColumnsOp>(op) && isTile())
      return op.emitOpError()
             << "reduces whole rows, which a kernel of tiles does not see";
    if (auto columns = dyn_cast<ReduceColumnsOp>(op); columns && product) {
      if (getPlacement(columns.getInput()) != Placement::Full)
        return op.emitOpError() << "reduces what has no element for each of "
                                   "the contraction's, beside it";
      rowFinals.insert(columns.getResult());
      levels[columns.getResult()] = level;
      columnReductions.push_back(columns);
      rowOps.push_back(&op);
      continue;
    }
    if (isa<ReduceColumnsOp>(op) || (isOfTiles() && isa<ReduceBlocksOp>(op)))
      ++level;
    for (Value result : op.getResults())
      levels[result] = level;
    numLevels = std::max(numLevels, level + 1);
    if (auto reduction = dyn_cast<ReduceRowsOp>(op))
      rowReductions.push_back(reduction);
    rowOps.push_back(&op);
  }
  return success();
}

BlockShape KernelGroup::getBlocksOf(Operation *op) const {
  if (isa<ReduceBlocksOp>(op))
    return getBlock(op->getResult(0));
  return isa<ExpandBlocksOp>(op) ? getBlock(op->getOperand(0)) : BlockShape();
}

bool KernelGroup::isWhole(ReduceRowsOp op) const {
  Value reduced = getWhollyReduced(op);
  return reduced &&
         (isOfTiles() || (op.getKind() != ReductionKind::Sum &&
                          getPlacement(op.getInput()) == Placement::PerRow &&
                          getPlacement(reduced) == Placement::Full));
}

Value KernelGroup::getReduced(ReduceRowsOp op) const {
  return isWhole(op) ? getWhollyReduced(op) : Value(op.getInput());
}

SmallVector<Value> KernelGroup::getReadValues() const {
  llvm::SetVector<Value> read;
  for (Operation *op : rowOps)
    if (!isa<ConcatOp>(op))
      read.insert(op->operand_begin(), op->operand_end());
  for (const Store &store : stores)
    if (!isFinal(store.value))
      read.insert(store.value);
  return read.takeVector();
}

std::optional<Access> KernelGroup::getAccess(Value value) const {
  std::optional<View> view = findView(value);
  if (!view)
    return std::nullopt;
  return getAccessIn(*view, view->type);
}

bool KernelGroup::isStored(Value value) const {
  return llvm::any_of(stores,
                      [&](const Store &store) { return store.value == value; });
}

LogicalResult KernelGroup::findStores() {
  auto yield = cast<YieldOp>(group.getBody().front().getTerminator());
  for (unsigned output = 0; output < yield.getValues().size(); ++output) {
    Value value = yield.getValues()[output];
    if (isa<BlockArgument>(value))
      return group.emitOpError() << "yields its own argument number "
                                 << cast<BlockArgument>(value).getArgNumber();
    if (failed(
            findStores(value, View::packed(value, tensorType(value)), output)))
      return failure();
  }
  return success();
}

/// Finds what is stored so that result `output` is, in the elements of `view`,
/// `value`.
LogicalResult KernelGroup::findStores(Value value, const View &view,
                                      unsigned output) {
  auto concat = value.getDefiningOp<ConcatOp>();
  if (concat && concat.isScattered()) {
    int64_t start = 0;
    for (Value part : concat.getInputs()) {
      RankedTensorType type = tensorType(part);
      if (failed(findStores(part, view.slice(concat.getDim(), start, 1, type),
                            output)))
        return failure();
      start += type.getDimSize(concat.getDim());
    }
    return success();
  }
  if (auto permute = value.getDefiningOp<PermuteOp>();
      permute && isScattered(*permute))
    return findStores(
        permute.getInput(),
        view.unpermute(permute.getOrder(), tensorType(permute.getInput())),
        output);
  if (auto reshape = value.getDefiningOp<ReshapeOp>();
      reshape && !findView(value)) {
    // All of the result, or a part of it with rows and columns as they are.
    Value input = reshape.getInput();
    return findStores(
        input,
        value == view.tensor ? View::packed(value, tensorType(input)) : view,
        output);
  }
  Placement placement = getPlacement(value);
  bool isWhole = value == view.tensor;
  if (isFinal(value)
          ? !isWhole
          : placement == Placement::RowVector || placement == Placement::Scalar)
    return group.emitOpError()
           << "computes a value of type " << value.getType()
           << ", which is the same for every row, in a kernel over rows";
  stores.push_back({value, getAccessIn(view, view.type), output});
  return success();
}
