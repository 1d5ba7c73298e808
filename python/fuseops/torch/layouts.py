# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the values of Dynamo's graph and their gradients lie in memory: orders, which
name dimensions from the outermost to the innermost."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch.fx import Graph, Node

from fuseops.torch.symbols import hint
from fuseops.torch.trace import example_of, tensors_of

Order = tuple[int, ...]

_LOG = logging.getLogger(__name__)
_KEY = "fuseops_gradient_order"


def find_order(tensor: torch.Tensor) -> Order | None:
    """The order of a packed tensor; None if it isn't packed."""
    dims = range(tensor.dim())
    order = tuple(sorted(dims, key=lambda dim: (-hint(tensor.stride(dim)), dim)))
    expected = 1
    for dim in reversed(order):
        size = tensor.shape[dim]
        if hint(size) == 1:
            continue
        if hint(tensor.stride(dim)) != expected:
            return None
        expected *= max(hint(size), 1)
    return order


def gradient_order(node: Node) -> Order | None:
    """The order of a value's gradient in eager mode, as `find_gradient_orders` found it;
    None where that is row-major."""
    return node.meta.get(_KEY)


def find_gradient_orders(graph: Graph, fake_mode: Any) -> None:
    """Finds the orders that the gradients of a graph's values have in eager mode, if
    those of its results lie in memory as the results do. PyTorch's operators may look
    at them, and the backward of its attention by cuDNN is wrong where the order is not
    that of its first call."""
    nodes = [node for node in graph.nodes if isinstance(example_of(node), torch.Tensor)]
    nodes = [node for node in nodes if example_of(node).requires_grad]
    with (
        fake_mode,
        enable_python_dispatcher(),
        torch.autograd.set_multithreading_enabled(False),
        # What is asked about sizes is no reason to compile again.
        fake_mode.shape_env.suppress_guards(),
        fake_mode.shape_env.ignore_fresh_unbacked_symbols(),
    ):
        # What is accumulated has the layout of what it's accumulated for.
        found = _differentiate(graph, [node for node in nodes if not example_of(node).is_leaf])
        orders = {node: _order_like(found.get(node, example_of(node))) for node in nodes}
    for node, order in orders.items():
        if list(order) != sorted(order):
            node.meta[_KEY] = order


def _differentiate(graph: Graph, nodes: Sequence[Node]) -> dict[Node, torch.Tensor]:
    """The gradients of nodes, without data, by the history that their values have from
    when Dynamo computed them; none of nodes on which no result depends."""
    (output,) = (node for node in graph.nodes if node.op == "output")
    results = [t for node in output.all_input_nodes for t in tensors_of(node) if t.requires_grad]
    values = [example_of(node) for node in nodes]
    if not results or not values:
        return {}
    try:
        given = [torch.empty_like(result) for result in results]
        found = torch.autograd.grad(results, values, given, retain_graph=True, allow_unused=True)
    except Exception as error:
        # Whatever PyTorch raises, the values' own orders are as good a guess.
        reason = str(error).partition("\n")[0]
        _LOG.debug("gradients are laid out as their values are: %s", reason)
        return {}
    return {node: g for node, g in zip(nodes, found, strict=True) if g is not None}


def _order_like(tensor: torch.Tensor) -> Order:
    """The order of a new tensor like this one, which may have gaps or repetitions.
    Dimensions of size 1, whose strides say nothing, stay where they are."""
    made = tensor if find_order(tensor) is not None else torch.empty_like(tensor)
    dims = [dim for dim in range(made.dim()) if hint(made.shape[dim]) != 1]
    moved = iter(sorted(dims, key=lambda dim: (-hint(made.stride(dim)), dim)))
    return tuple(next(moved) if dim in dims else dim for dim in range(made.dim()))
