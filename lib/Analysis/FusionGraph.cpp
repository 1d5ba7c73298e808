//===- FusionGraph.cpp - The operations of a region as the planner sees them =//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FusionGraph.h"

#include "FuseOps/Analysis/Product.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fuseops;

/// Rows that stand for a symbolic number of them: a training step's.
static constexpr int64_t kSymbol = 8192;

/// What a launch costs: 2 us of the 4.2 TB/s that an H200 copies.
static constexpr double kLaunchBytes = 8.4e6;

/// Bytes that an H200 copies while its tensor cores do one operation, at the
/// rates that the power cap leaves them: 700 TFLOP/s of 16 bits.
static constexpr double kBytesPerOperation = 4.2 / 700;

/// What is left of the copy bandwidth where a matrix is read or written along
/// its columns without a tile in shared memory, estimated: of a sector of 32
/// bytes some elements only.
static constexpr double kScatteredShare = 0.3;

/// The share of the copy bandwidth that a template reaches: measured on an
/// H200, benchmarks/results/h200-2026-11-30.json.
static double getShare(KernelTemplate kernelTemplate) {
  switch (kernelTemplate) {
  case KernelTemplate::Pointwise:
    return 0.88;
  case KernelTemplate::Row:
    return 0.83;
  case KernelTemplate::RowColumn:
    return 0.70;
  case KernelTemplate::Tile:
    return 0.60;
  case KernelTemplate::Library:
  case KernelTemplate::Gemm:
  case KernelTemplate::Finalize:
    return 1;
  }
  llvm_unreachable("every template is handled");
}

/// Of two templates that a group needs, the one that can do both.
static int getRank(KernelTemplate kernelTemplate) {
  switch (kernelTemplate) {
  case KernelTemplate::Pointwise:
    return 0;
  case KernelTemplate::Row:
    return 1;
  case KernelTemplate::RowColumn:
    return 2;
  case KernelTemplate::Tile:
    return 3;
  case KernelTemplate::Library:
  case KernelTemplate::Gemm:
  case KernelTemplate::Finalize:
    return 4;
  }
  llvm_unreachable("every template is handled");
}

/// Whether a reshape behind which `value` stands changes rows or columns.
static bool movesColumns(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    auto from = cast<RankedTensorType>(reshape.getInput().getType());
    if (getSpace(from) != getSpace(cast<RankedTensorType>(value.getType())))
      return true;
    value = reshape.getInput();
  }
  return false;
}

static double sizeAt(Extent extent) {
  return static_cast<double>(extent.constant) +
         static_cast<double>(extent.getGrowth()) * (kSymbol / 128);
}

static double countWork(const Product &product) {
  double operations = 2 * sizeAt(product.m) * sizeAt(product.k) * product.n;
  return operations * kBytesPerOperation *
         getElementBytes(product.a.getElementType()) / 2;
}

static double sizeInMemory(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return 0;
  return sizeAt(getNumBytes(type));
}

FusionGraph::FusionGraph(Block &block, GeneratedProducts generated)
    : generated(generated), blocks(findBlockValues(block)) {
  for (auto concat : block.getOps<ConcatOp>())
    for (Value input : concat.getInputs())
      joined.unionSets(getColumns(cast<RankedTensorType>(input.getType())),
                       getColumns(concat.getType()));
  for (Operation &op : block.without_terminator())
    if (!isa<ReshapeOp, ConstantOp>(op))
      addOperation(op);
  for (Value value : block.getTerminator()->getOperands()) {
    auto result = dyn_cast<OpResult>(skipReshapes(value));
    if (result && index.contains(result.getOwner()))
      setReturned(numbers[result]);
  }
  findPairs();
  findNeighbours();
}

unsigned FusionGraph::getNumber(Value value) {
  auto [entry, isNew] = numbers.try_emplace(value, 0);
  // A constant is part of the kernel's code.
  if (isNew)
    entry->second =
        addValue(value.getDefiningOp<ConstantOp>() ? 0 : sizeInMemory(value));
  return entry->second;
}

void FusionGraph::addOperation(Operation &op) {
  FusionNode node;
  node.op = &op;
  inspect(node);
  auto slice = dyn_cast<SliceOp>(op);
  bool isSlice = slice && slice.getStep() == 1;
  SmallVector<Read> reads;
  for (auto [operand, value] : llvm::enumerate(op.getOperands())) {
    Value source = skipReshapes(value);
    unsigned read = getNumber(source);
    auto type = dyn_cast<RankedTensorType>(source.getType());
    bool isShared = node.isMemory && !node.isScattered && type &&
                    getSpace(type).rows == node.space.rows;
    reads.push_back({read,
                     isSlice ? sizeInMemory(op.getResult(0)) : getBytes(read),
                     isSlice, isShared});
    auto result = dyn_cast<OpResult>(source);
    if (result && index.contains(result.getOwner()))
      node.edges.push_back({index[result.getOwner()], result.getResultNumber(),
                            static_cast<unsigned>(operand),
                            movesColumns(value)});
  }
  nodes.push_back(std::move(node));
  SmallVector<double> results =
      llvm::map_to_vector(op.getResults(), sizeInMemory);
  unsigned number = addNode(reads, results);
  index[&op] = number;
  for (auto [result, write] :
       llvm::zip_equal(op.getResults(), getWrites(number)))
    numbers[result] = write.value;
}

void FusionGraph::inspect(FusionNode &node) {
  node.shape = inspectOperation(node.op);
  auto fusible = dyn_cast<FusibleOpInterface>(node.op);
  if (!fusible) {
    std::optional<Product> product = Product::get(node.op);
    node.isProduct = product && isGenerated(*product, generated) &&
                     product->findFault().empty();
    if (!node.isProduct)
      return;
    node.isGrouped = product->isGrouped();
    node.hasOpenRows = product->hasOpenRows();
    node.work = countWork(*product);
    node.space =
        getSpace(cast<RankedTensorType>(product->getResult().getType()));
    return;
  }
  node.isMemory = true;
  node.space = getSpace(fusible.getIterationSpace());
  auto permute = dyn_cast<PermuteOp>(node.op);
  if (permute && isWrittenThrough(permute)) {
    node.isScattered = true;
    node.shape.readsMoved.reset();
    node.shape.writesMoved.set();
    node.space = getSpace(permute.getInput().getType());
  }
  for (Value result : node.op->getResults())
    if (auto found = blocks.find(result); found != blocks.end()) {
      node.isOfBlocks = true;
      node.space = found->second.matrix;
    }
  node.isTiled = node.shape.kernelTemplate == KernelTemplate::Tile;
  node.isTransposed = permute && writesTransposed(permute);
}

void FusionGraph::findPairs() {
  llvm::SetVector<std::pair<unsigned, unsigned>> found;
  llvm::MapVector<unsigned, SmallVector<unsigned>> sharedBy;
  for (unsigned node = 0; node < size(); ++node) {
    for (FusionNode::Edge edge : nodes[node].edges)
      found.insert({edge.producer, node});
    for (const Read &read : getReads(node))
      if (read.isShared)
        sharedBy[read.value].push_back(node);
  }
  for (auto &entry : sharedBy) {
    ArrayRef<unsigned> list = entry.second;
    for (unsigned second : list.drop_front())
      if (list.front() != second)
        found.insert({list.front(), second});
  }
  pairs = llvm::to_vector(found);
}

unsigned FusionGraph::checkSpaces(ArrayRef<unsigned> group) const {
  if (group.size() == 1)
    return 0;
  // 1. memory kernels only, or one contraction and what is computed of it
  const auto *product = llvm::find_if(
      group, [&](unsigned member) { return !nodes[member].isMemory; });
  if (product != group.end())
    return checkProduct(group, *product);
  // 2. one iteration space; what is joined may have other columns
  IterationSpace space = nodes[group.front()].space;
  for (unsigned member : group) {
    IterationSpace own = nodes[member].space;
    if (own.rows != space.rows)
      return 2;
    if (space.columns == 1)
      space.columns = own.columns;
    if (own.columns != 1 && own.columns != space.columns &&
        !joined.isEquivalent(own.columns, space.columns))
      return 2;
  }
  return 0;
}

/// Whether two nodes read and write one value in different ways: one as blocks,
/// the other as rows.
static bool differInBlocks(const FusionNode &producer,
                           const FusionNode &consumer) {
  return !isa<ReduceBlocksOp, ExpandBlocksOp>(consumer.op) &&
         producer.isOfBlocks != consumer.isOfBlocks;
}

/// Whether the operation itself turns the rows that it visits into columns of
/// its result: pairs of an interleaved vector.
static bool givesOtherRows(const FusionNode &producer, unsigned result) {
  auto type =
      dyn_cast<RankedTensorType>(producer.op->getResult(result).getType());
  return type && !producer.isOfBlocks &&
         !producer.shape.writesMoved.test(result) &&
         !producer.shape.reduced.test(result) &&
         getSpace(type).rows != producer.space.rows;
}

unsigned FusionGraph::checkReads(ArrayRef<unsigned> group) const {
  if (group.size() == 1)
    return 0;
  unsigned conflict = 0;
  for (unsigned member : group) {
    const FusionNode &node = nodes[member];
    for (FusionNode::Edge edge : node.edges) {
      if (!llvm::is_contained(group, edge.producer))
        continue;
      const FusionNode &producer = nodes[edge.producer];
      if (edge.movesColumns || differInBlocks(producer, node) ||
          givesOtherRows(producer, edge.result))
        return 2;
      // 4. what is known only when all rows are
      if (producer.shape.reduced.test(edge.result))
        return 4;
      // 5. what lies elsewhere. A matrix that is joined and transposed, in one
      // shape, still only goes somewhere.
      bool goesOn = node.shape.writesMoved.any() &&
                    (producer.isTransposed || node.isTransposed) &&
                    node.op->getOperand(edge.operand) ==
                        producer.op->getResult(edge.result);
      bool isMoved = node.shape.readsMoved.test(edge.operand) &&
                     !(producer.isProduct && readsHalves(member, edge.operand));
      if ((producer.shape.writesMoved.test(edge.result) && !goesOn) || isMoved)
        conflict = 5;
    }
  }
  if (conflict)
    return conflict;
  if (llvm::none_of(group,
                    [&](unsigned member) { return nodes[member].isTiled; }))
    return 0;
  // Tiles have one number of columns.
  if (!hasOneWidth(group))
    return 2;
  // 6. a tile has no whole rows
  if (needsRows(group))
    return 6;
  // 7. what a tile keeps has to fit
  return countSharedBytes(group) > kSharedBytes ? 7 : 0;
}

/// At most the shared memory of a tile kernel of 128 threads.
int64_t FusionGraph::countSharedBytes(ArrayRef<unsigned> group) const {
  // One result after the other is transposed, or summed over the rows of warps.
  int64_t bytes = 0, largest = 0;
  for (unsigned member : group) {
    const FusionNode &node = nodes[member];
    bytes += node.shape.blockBytes;
    if (node.shape.reduced.any())
      largest = std::max<int64_t>(largest, 8 * 4 * kTileSize);
    if (!node.isTransposed)
      continue;
    auto type = cast<RankedTensorType>(node.op->getResult(0).getType());
    int64_t element = getElementBytes(type.getElementType());
    // Wider elements are written where they are.
    if (element <= 2)
      largest = std::max(largest, element * kTileSize * kTileSize);
  }
  return bytes + largest;
}

bool FusionGraph::hasOneWidth(ArrayRef<unsigned> group) const {
  llvm::SmallDenseSet<int64_t> widths;
  for (unsigned member : group) {
    const FusionNode &node = nodes[member];
    if (node.isOfBlocks)
      continue;
    if (!node.isMoved()) {
      widths.insert(node.space.columns);
      continue;
    }
    // What is moved on has the columns of what it was before.
    for (OpOperand &operand : node.op->getOpOperands()) {
      bool isMovedOn =
          llvm::any_of(node.edges, [&](const FusionNode::Edge &edge) {
            return edge.operand == operand.getOperandNumber() &&
                   nodes[edge.producer].isMoved() &&
                   llvm::is_contained(group, edge.producer);
          });
      if (!isMovedOn)
        widths.insert(
            getColumns(cast<RankedTensorType>(operand.get().getType())));
    }
  }
  widths.erase(1);
  return widths.size() <= 1;
}

bool FusionGraph::needsRows(ArrayRef<unsigned> group) const {
  return llvm::any_of(
      group, [&](unsigned member) { return nodes[member].shape.needsRows; });
}

KernelTemplate FusionGraph::getTemplate(ArrayRef<unsigned> group) const {
  // The library has what is one product by itself.
  if (llvm::any_of(group, [&](unsigned member) {
        return nodes[member].isProduct &&
               (group.size() > 1 || nodes[member].isGrouped);
      }))
    return KernelTemplate::Gemm;
  KernelTemplate needed = nodes[group.front()].shape.kernelTemplate;
  auto need = [&](KernelTemplate kernelTemplate) {
    if (getRank(kernelTemplate) > getRank(needed))
      needed = kernelTemplate;
  };
  for (unsigned member : group) {
    const FusionNode &node = nodes[member];
    need(node.shape.kernelTemplate);
    // A matrix is written transposed by the kernel that computes it only.
    bool isComputed =
        llvm::any_of(node.edges, [&](const FusionNode::Edge &edge) {
          return llvm::is_contained(group, edge.producer);
        });
    if (node.isTransposed && !node.isOfBlocks && isComputed &&
        !needsRows(group) && hasOneWidth(group))
      need(KernelTemplate::Tile);
  }
  return needed;
}

double FusionGraph::getShare(ArrayRef<unsigned> group) const {
  KernelTemplate kernelTemplate = getTemplate(group);
  bool isScattered = llvm::any_of(group, [&](unsigned member) {
    return nodes[member].isTransposed && !nodes[member].isOfBlocks;
  });
  if (isScattered && kernelTemplate != KernelTemplate::Tile)
    return kScatteredShare;
  return ::getShare(kernelTemplate);
}

double FusionGraph::getWork(ArrayRef<unsigned> group) const {
  double work = 0;
  for (unsigned member : group)
    work += nodes[member].work;
  return work;
}

double FusionGraph::getLaunchCost(ArrayRef<unsigned> group) const {
  // What the library computes is no kernel of ours.
  if (llvm::any_of(group, [&](unsigned member) {
        return !nodes[member].isMemory && !nodes[member].isProduct;
      }))
    return 0;
  // What is reduced over rows is finished by a launch of its own, and so is
  // what tiles reduce along rows.
  bool isFinalized = llvm::any_of(group, [&](unsigned member) {
    return nodes[member].shape.reduced.any();
  });
  bool endsRows =
      getTemplate(group) == KernelTemplate::Gemm && needsRows(group);
  return kLaunchBytes * (1 + (isFinalized ? 1 : 0) + (endsRows ? 1 : 0));
}

bool FusionGraph::canFollow(unsigned node, unsigned other) const {
  const FusionNode &own = nodes[node];
  // Where columns are joined, or a matrix is written transposed, it depends on
  // the whole group what it is.
  auto isTransposed = [&](unsigned member) {
    return nodes[member].isTransposed;
  };
  return own.isMemory &&
         own.shape.kernelTemplate == KernelTemplate::Pointwise &&
         own.shape.readsMoved.none() && own.shape.writesMoved.none() &&
         !isTransposed(other) && joined.empty() &&
         llvm::none_of(getConsumers(node), isTransposed) &&
         own.space == nodes[other].space &&
         isLegal({std::min(node, other), std::max(node, other)});
}
