# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What no pipeline holds, compiled by Inductor."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch._guards import tracing
from torch._inductor import config as inductor_config
from torch.fx import Graph, GraphModule, Node

from fuseops.torch.checkpointing import Checkpointed
from fuseops.torch.layouts import gradient_order
from fuseops.torch.modes import Modes, is_mode_change, modes_of
from fuseops.torch.partition import is_view
from fuseops.torch.pipeline import Pipeline
from fuseops.torch.trace import example_of, extract, invert, tensors_of


def compile_rest(module: GraphModule) -> GraphModule:
    """The module with a call of Inductor's code in place of each run of nodes
    between its pipelines. Views stay calls of PyTorch, which cost less."""
    modes = modes_of(module.graph)
    graph = Graph()
    values: dict[Node, Any] = {}

    def flush(run: list[Node]) -> None:
        # What only views what was there before needs no compiler.
        if all(is_view(node) or not tensors_of(node) for node in run):
            for node in run:
                values[node] = graph.node_copy(node, values.__getitem__)
        else:
            _add_call(module, graph, values, run, modes[run[0]])

    run: list[Node] = []
    for node in module.graph.nodes:
        if _is_compilable(node):
            run.append(node)
            continue
        if run and node.op not in ("placeholder", "get_attr"):
            flush(run)
            run = []
        values[node] = graph.node_copy(node, values.__getitem__)
    return GraphModule(module, graph)


def compile_whole(module: GraphModule) -> Callable[..., Any]:
    """Inductor's code for all of the module, which calls the pipelines by their
    operators. It replays CUDA graphs where it runs on CUDA."""
    inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
    with tracing(None), inductor_config.patch("triton.cudagraphs", True):
        return _compile(module, [_leaf(example_of(node)) for node in inputs])


def _is_compilable(node: Node) -> bool:
    if node.op not in ("call_function", "call_method") or is_mode_change(node):
        return False
    if isinstance(node.target, (Pipeline, Checkpointed)):
        return False
    # A result of one.
    return not (
        node.target is operator.getitem
        and isinstance(node.args[0], Node)
        and isinstance(node.args[0].target, (Pipeline, Checkpointed))
    )


def _add_call(
    module: GraphModule,
    graph: Graph,
    values: dict[Node, Any],
    run: list[Node],
    modes: Modes,
) -> None:
    inside = set(run)
    sources = dict.fromkeys(s for n in run for s in n.all_input_nodes if s not in inside)
    # A graph that an operator of higher order calls is no value.
    attributes = [source for source in sources if source.op == "get_attr"]
    inputs = [source for source in sources if source.op != "get_attr"]
    results = [node for node in run if any(user not in inside for user in node.users)]
    # Autograd of compiled code takes row-major gradients.
    orders = {node: gradient_order(node) for node in results if gradient_order(node) is not None}
    part = extract(module, [*attributes, *run], inputs, results, orders)
    # Dynamo's own context has another fake mode than its examples have.
    with modes.entered(), tracing(None):
        code = _compile(part, [_leaf(example_of(node)) for node in inputs])
    code.__name__ = f"inductor_{run[0].name}"
    call = graph.call_function(code, tuple(values[node] for node in inputs))
    for index, node in enumerate(results):
        values[node] = graph.call_function(operator.getitem, (call, index))
        if node in orders:
            values[node] = graph.call_method("permute", (values[node], *invert(orders[node])))
        values[node].meta = dict(node.meta)


def _compile(part: GraphModule, examples: list[Any]) -> Callable[..., Any]:
    from torch._inductor.compile_fx import compile_fx  # noqa: PLC0415 (takes a second)

    compiled = compile_fx(part, examples)

    def call(*inputs: Any) -> Any:
        return compiled(*inputs)

    return call


def _leaf(value: Any) -> Any:
    """The example without Dynamo's autograd history."""
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().requires_grad_(value.requires_grad)
