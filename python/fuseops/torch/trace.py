# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A part of Dynamo's graph as a functional graph of ATen operators."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Interpreter, Node
from torch.fx import traceback as fx_traceback
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import is_symbolic
from torch.utils import _pytree as pytree

from fuseops.errors import FuseOpsError
from fuseops.torch import autocast


def example_of(node: Node) -> Any:
    """What Dynamo computed for a node, without data; None where it makes nothing."""
    return node.meta.get("example_value")


def tensors_of(node: Node) -> list[torch.Tensor]:
    """The tensors among what a node makes."""
    leaves = pytree.tree_leaves(example_of(node))
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


def fake_mode_of(graph: GraphModule) -> Any:
    """The mode that made the example values; None where there are none."""
    for node in graph.graph.nodes:
        for tensor in tensors_of(node):
            if hasattr(tensor, "fake_mode"):
                return tensor.fake_mode
    return None


@dataclass(frozen=True)
class Split:
    """A dimension whose size is a multiple of a symbol, which is a size that
    programs have; they take and give it as two."""

    dim: int
    factor: int

    @property
    def sizes(self) -> tuple[int, int]:
        """What its size becomes."""
        return (-1, self.factor)

    def apply(self, tensor: torch.Tensor) -> torch.Tensor:
        """A view of a tensor that has both."""
        return tensor.unflatten(self.dim, self.sizes)

    def undo(self, tensor: torch.Tensor) -> torch.Tensor:
        """A view of a packed tensor that has one."""
        return tensor.flatten(self.dim, self.dim + 1)


def find_split(value: Any, order: Sequence[int] | None = None) -> Split | None:
    """The first such dimension of a tensor, as permuted by an order."""
    if not isinstance(value, torch.Tensor):
        return None
    for dim, size in enumerate(value.shape):
        if is_symbolic(size):
            factor, rest = size.node.expr.as_coeff_Mul()
            if factor.is_Integer and factor > 1 and rest.is_Symbol:
                return Split(order.index(dim) if order else dim, int(factor))
    return None


def invert(order: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes another."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def extract(
    module: GraphModule,
    nodes: Sequence[Node],
    inputs: Sequence[Node],
    results: Sequence[Node],
    orders: Mapping[Node, Sequence[int]] | None = None,
    *,
    is_split: bool = False,
) -> GraphModule:
    """`nodes` as a module of its own, from `inputs` to a tuple of `results`. An input
    with an order comes permuted by it, and a result goes so. With `is_split` inputs
    and then results have a multiple of a symbol as two sizes."""
    graph, copies = Graph(), {}
    for node in inputs:
        copies[node] = _add_input(graph, node, (orders or {}).get(node), is_split)
    for node in nodes:
        copies[node] = graph.node_copy(node, lambda argument: copies[argument])
    outputs = []
    for node in results:
        order = (orders or {}).get(node)
        copy = copies[node]
        if order is not None:
            copy = graph.call_method("permute", (copy, *order))
        outputs.append(_split(copy, example_of(node), order) if is_split else copy)
    graph.output(tuple(outputs))
    return GraphModule(module, graph)


def _add_input(graph: Graph, node: Node, order: Sequence[int] | None, is_split: bool) -> Node:
    """An input of a graph, as the nodes see it."""
    copy = graph.placeholder(node.name)
    value = example_of(node)
    split = find_split(value, order) if is_split else None
    given = value if order is None else value.permute(order)
    given = given if split is None else split.apply(given)
    copy.meta = {**node.meta, "example_value": given}
    if split is not None:
        copy = graph.call_method("flatten", (copy, split.dim, split.dim + 1))
    return copy if order is None else graph.call_method("permute", (copy, *invert(order)))


def _split(node: Node, value: Any, order: Sequence[int] | None) -> Any:
    """The node of a graph, whose value this is, as a program gives it."""
    graph = node.graph
    if isinstance(value, (tuple, list)):
        elements = [graph.call_function(operator.getitem, (node, i)) for i in range(len(value))]
        return tuple(_split(e, v, order) for e, v in zip(elements, value, strict=True))
    split = find_split(value, order)
    if split is None:
        return node
    return graph.call_method("unflatten", (node, split.dim, split.sizes))


@contextlib.contextmanager
def _tracing(fake_mode: Any) -> Iterator[None]:
    with torch.no_grad(), fake_mode, fx_traceback.preserve_node_meta():
        yield


def trace(module: GraphModule, fake_mode: Any) -> GraphModule:
    """The operators that an extracted module calls, composite ones as they are,
    with autocast's casts. Nothing is computed. Sizes that were inputs are read off
    the tensors that have them."""
    inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
    examples = [_detached(example_of(node)) for node in inputs]
    with _tracing(fake_mode):
        traced = make_fx(Interpreter(module).run, pre_dispatch=True)(*examples)
    traced.graph.eliminate_dead_code()
    if autocast.is_enabled(examples):
        autocast.insert_casts(traced, fake_mode)
    _replace_sizes(traced)
    traced.recompile()
    return traced


def _detached(value: Any) -> Any:
    return value.detach() if isinstance(value, torch.Tensor) else value


def _replace_sizes(traced: GraphModule) -> None:
    inputs = [node for node in traced.graph.nodes if node.op == "placeholder"]
    tensors = [node for node in inputs if isinstance(node.meta.get("val"), torch.Tensor)]
    for node in inputs:
        if node in tensors:
            continue
        value = node.meta.get("val")
        if node.users:
            with traced.graph.inserting_after(inputs[-1]):
                node.replace_all_uses_with(_size(traced.graph, value, tensors))
        traced.graph.erase_node(node)


def _size(graph: Graph, value: Any, tensors: Sequence[Node]) -> Any:
    """A value that was an input, from the sizes of tensors."""
    if not is_symbolic(value):
        return value
    expression = value.node.expr
    for node in tensors:
        for dim, size in enumerate(node.meta["val"].shape):
            if is_symbolic(size) and size.node.expr == expression:
                read = graph.call_function(torch.ops.aten.sym_size.int, (node, dim))
                read.meta["val"] = size
                return read
    factor, _ = expression.as_coeff_Mul()
    if factor.is_Integer and factor > 1:
        read = _size(graph, value // int(factor), tensors)
        with graph.inserting_after(read):
            product = graph.call_function(operator.mul, (read, int(factor)))
        product.meta["val"] = value
        return product
    raise FuseOpsError(f"expected a tensor of symbolic size `{expression}`, but no input has it")
