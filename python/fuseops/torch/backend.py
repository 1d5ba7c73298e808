# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backend of `torch.compile(model, backend="fuseops")`.

Takes Dynamo's graph before autograd, cuts it into pipelines that become compiled
programs, and gives the rest to Inductor or leaves it to PyTorch.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.symbolic_shapes import is_symbolic

from fuseops.errors import FuseOpsError
from fuseops.recipe import Recipe
from fuseops.torch import fp8, fp8_calls
from fuseops.torch.checkpointing import replace_checkpoints
from fuseops.torch.explanation import log_graph
from fuseops.torch.layouts import Order, find_gradient_orders, find_order, gradient_order
from fuseops.torch.modes import Modes, in_grad_mode, is_mode_change
from fuseops.torch.partition import Effect, Part, Partition, is_view, partition
from fuseops.torch.pipeline import Argument, Pipeline, Result
from fuseops.torch.rest import compile_rest, compile_whole
from fuseops.torch.support import Support
from fuseops.torch.trace import (
    example_of,
    extract,
    fake_mode_of,
    find_split,
    invert,
    tensors_of,
    trace,
)

REST = ("inductor", "eager")
MODES = ("default", "reduce-overhead")


@dataclass(frozen=True)
class Options:
    """What `options` of torch.compile may hold."""

    # Who runs what no pipeline holds: inductor or eager.
    rest: str = "inductor"
    # The compiler's target; by default that of the tensors' device.
    target: str | None = None
    # How linear layers are quantized, where no `fuseops.autocast` says.
    recipe: Recipe | None = None

    @classmethod
    def parse(cls, options: Mapping[str, Any] | None) -> Options:
        """Checks what a user gave."""
        given = dict(options or {})
        unknown = sorted(set(given) - set(cls.__dataclass_fields__))
        if unknown:
            names = ", ".join(f"`{name}`" for name in cls.__dataclass_fields__)
            raise FuseOpsError(f"expected options among {names}, but got `{unknown[0]}`")
        parsed = cls(**given)
        if parsed.rest not in REST:
            raise FuseOpsError(
                f"expected option `rest` to be one of {REST}, but got {parsed.rest!r}"
            )
        fp8.make_quantization(parsed.recipe)
        return parsed

    def quantization(self) -> fp8.Quantization | None:
        """What linear layers have now."""
        return fp8.current(fp8.make_quantization(self.recipe))


@dataclass
class Taken:
    """A pipeline and the nodes that it stands for."""

    pipeline: Pipeline
    nodes: list[Node]
    inputs: list[Node]
    results: list[Node]
    # Which inputs need a gradient, as far as the graph says.
    needs: tuple[bool, ...]


@dataclass
class Compiled:
    """What became of one graph of Dynamo."""

    module: GraphModule
    taken: list[Taken] = field(default_factory=list)
    # What no pipeline holds, and why not.
    refused: dict[Node, str] = field(default_factory=dict)
    # What became of the parts under checkpoints.
    parts: list[Compiled] = field(default_factory=list)
    # Whether a node writes what others may read.
    has_effect: bool = False


def fuseops_backend(
    module: GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """Compiles a graph of Dynamo; the entry point `fuseops` of torch.compile's
    backends. Mode `reduce-overhead` replays CUDA graphs, as Inductor does. Raises
    FuseOpsError for an unknown option or mode."""
    if mode not in (None, *MODES):
        expected = " or ".join(f"`{name}`" for name in MODES)
        raise FuseOpsError(f"expected mode {expected}, but got `{mode}`")
    parsed = Options.parse(options)
    if mode == "reduce-overhead" and parsed.rest != "inductor":
        raise FuseOpsError("mode `reduce-overhead` needs option `rest` to be `inductor`")
    call = _PerRecipe(module, parsed, has_graphs=mode == "reduce-overhead")
    call.find()
    return call


class _PerRecipe:
    """Calls of a graph, which is compiled for each recipe that it's called with:
    Dynamo doesn't see a `fuseops.autocast` around it."""

    def __init__(self, module: GraphModule, options: Options, has_graphs: bool) -> None:
        self._module = module
        self._options = options
        self._has_graphs = has_graphs
        self._calls: dict[fp8.Quantization | None, Callable[..., Any]] = {}

    def __call__(self, *inputs: Any) -> Any:
        return self.find()(*inputs)

    def find(self) -> Callable[..., Any]:
        """The call for the recipe that there is now."""
        quantization = self._options.quantization()
        found = self._calls.get(quantization)
        if found is None:
            start = time.perf_counter()
            found, compiled = compile_graph(self._module, self._options, self._has_graphs)
            self._calls[quantization] = found
            log_graph(compiled, time.perf_counter() - start)
        return found


def compile_graph(
    module: GraphModule, options: Options, has_graphs: bool = False
) -> tuple[Callable[..., Any], Compiled]:
    """The call that stands for a graph, and what became of the graph's nodes. With
    `has_graphs` Inductor compiles all of it and replays CUDA graphs."""
    with fp8.within(options.quantization()):
        return _compile_graph(module, options, has_graphs)


def _compile_graph(
    module: GraphModule, options: Options, has_graphs: bool
) -> tuple[Callable[..., Any], Compiled]:
    parts: list[Compiled] = []

    def compile_part(part: GraphModule) -> tuple[Callable[..., Any], bool]:
        call, record = compile_graph(part, options)
        parts.append(record)
        return call, record.has_effect

    quantization = fp8.current()
    if has_graphs and quantization is not None and quantization.recipe.has_state:
        raise FuseOpsError(
            "expected a recipe without state in mode `reduce-overhead`, but got DelayedScaling: "
            "capture its calls with torch.cuda.graph"
        )
    # Inductor has a way of its own with checkpoints.
    if not has_graphs:
        module = replace_checkpoints(module, compile_part)
    compiled = Compiled(module, parts=parts)
    fake_mode = fake_mode_of(module)
    target = options.target or _target_of(module)
    if fake_mode is None or target is None:
        return module.forward, compiled
    fp8_calls.number_calls(module.graph)
    find_gradient_orders(module.graph, fake_mode)
    support = Support(module, fake_mode, target)
    cut = _cut(module, support, target, compiled)
    graph = _rewrite(module.graph, cut, compiled.taken, support.modes)
    result = GraphModule(module, graph)
    if has_graphs:
        return compile_whole(result), compiled
    if options.rest == "inductor":
        result = compile_rest(result)
    return result.forward, compiled


def _target_of(module: GraphModule) -> str | None:
    kinds = {t.device.type for node in module.graph.nodes for t in tensors_of(node)}
    for kind in ("cuda", "cpu"):
        if kind in kinds:
            return kind
    return None


def _is_worthwhile(part: Part, modes: Mapping[Node, Modes]) -> bool:
    """Whether a pipeline computes more than views and bare products do, or products
    by a recipe, and from tensors."""
    return any(tensors_of(node) for node in part.inputs()) and any(
        not is_view(node) and (not _is_product(node) or _is_quantized(node, modes[node]))
        for node in part.nodes
    )


def _is_quantized(node: Node, modes: Modes) -> bool:
    if modes.quantization is None or _called(node) == "getitem":
        return False
    return modes.quantization.recipe.of(fp8.paths_of(node)) is not None


def _is_product(node: Node) -> bool:
    return _called(node) in ("linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "getitem")


def _cut(module: GraphModule, support: Support, target: str, compiled: Compiled) -> Partition:
    """The partition, after each of its pipelines was compiled."""
    while True:
        cut = partition(
            module.graph,
            lambda node: support.of(node).reason is None,
            lambda node: support.of(node).effect,
            support.modes,
        )
        refused = [part for part in cut.parts if not _is_worthwhile(part, support.modes)]
        for part in refused:
            support.refuse(part.nodes, "not worth a pipeline")
        if not refused and _compile_parts(module, cut, support, target, compiled):
            break
    for node in cut.rest:
        if node.op not in ("placeholder", "get_attr"):
            verdict = support.of(node)
            compiled.refused[node] = verdict.reason or ""
            compiled.has_effect |= verdict.effect in (Effect.WRITES, Effect.UNKNOWN)
    return cut


def _compile_parts(
    module: GraphModule, cut: Partition, support: Support, target: str, compiled: Compiled
) -> bool:
    """Compiles the pipelines of a partition; whether all of them compile."""
    compiled.taken.clear()
    for part in cut.parts:
        try:
            compiled.taken.append(_compile_part(module, cut, part, support, target))
        except FuseOpsError as error:
            support.refuse(part.nodes, f"its pipeline does not compile: {error}")
    return len(compiled.taken) == len(cut.parts)


def _compile_part(
    module: GraphModule, cut: Partition, part: Part, support: Support, target: str
) -> Taken:
    """Traces and compiles a pipeline; raises FuseOpsError."""
    inputs, nodes = part.inputs(), part.results()
    modes = support.modes[part.nodes[0]]
    tensors = [node for node in inputs if isinstance(example_of(node), torch.Tensor)]
    needs = tuple(modes.is_grad_enabled and example_of(node).requires_grad for node in tensors)
    orders = {node: find_order(example_of(node)) for node in nodes}
    # Packed as it is, or permuted.
    orders = {node: order for node, order in orders.items() if list(order) != sorted(order)}
    for node, needed in zip(tensors, needs, strict=True):
        if needed and (order := _argument_order(node)) is not None:
            orders[node] = order
    extracted = extract(module, part.nodes, inputs, nodes, orders, is_split=True)
    with modes.entered():
        traced = trace(extracted, support.fake_mode)
    has_backward = modes.is_grad_enabled and any(
        t.requires_grad for n in nodes for t in tensors_of(n)
    )

    def is_copied(node: Node) -> bool:
        return has_backward and cut.is_written_after(node, part.level)

    results = []
    for node in nodes:
        has_gradient = modes.is_grad_enabled and example_of(node).requires_grad
        order = orders.get(node)
        split = find_split(example_of(node), order)
        results.append(Result(has_gradient, order and invert(order), split, is_copied(node)))
    arguments = []
    for node in tensors:
        order = orders.get(node)
        split = find_split(example_of(node), order)
        arguments.append(Argument(order, split, is_copied(node)))
    pipeline = Pipeline(
        _name_of(part),
        traced,
        arguments,
        results,
        target,
        is_grad_enabled=modes.is_grad_enabled,
        quantization=modes.quantization,
        nodes=tensors,
    )
    pipeline.program(needs)
    return Taken(pipeline, part.nodes, tensors, nodes, needs)


def _argument_order(node: Node) -> Order | None:
    """The order in which a program takes an input, and so gives its gradient; the last
    size that a program has is no symbol."""
    order = gradient_order(node)
    if order is None or is_symbolic(example_of(node).shape[order[-1]]):
        return None
    return order


def _name_of(part: Part) -> str:
    """A name from what a pipeline calls first and last, equal for equal layers."""
    names = [_called(node) for node in part.nodes if not is_view(node)]
    return "_".join(dict.fromkeys([names[0], names[-1]]))


def _called(node: Node) -> str:
    """The name of the function or method that a node calls."""
    name = node.target if node.op == "call_method" else getattr(node.target, "__name__", "call")
    return name.strip("_")


def _rewrite(
    source: Graph, cut: Partition, taken: Sequence[Taken], modes: Mapping[Node, Modes]
) -> Graph:
    """The graph with a call in place of each pipeline."""
    graph = Graph()
    values: dict[Node, Any] = {}
    inside = {node for one in taken for node in one.nodes}
    nodes = list(source.nodes)
    # The modes after each node, and those where the new graph ends now.
    after = dict(zip(nodes, [modes[node] for node in nodes[1:]], strict=False))
    current = modes[nodes[0]]

    def value(node: Node) -> Any:
        # A view that is used outside of its pipeline is made there.
        if node not in values and node in inside:
            copy(node)
        return values[node]

    def copy(node: Node) -> None:
        nonlocal current
        copied = values[node] = graph.node_copy(node, value)
        if is_mode_change(node):
            current = after[node]
        elif node in inside and modes[node].is_grad_enabled != current.is_grad_enabled:
            copied.target = in_grad_mode(modes[node].is_grad_enabled, node)
            copied.op = "call_function"

    levels: dict[int, list[Taken]] = {}
    for one, part in zip(taken, cut.parts, strict=True):
        levels.setdefault(part.level, []).append(one)
    for level in range(cut.num_levels):
        for node in source.nodes:
            if cut.rest.get(node) == level:
                copy(node)
        for one in levels.get(level, ()):
            inputs = tuple(value(node) for node in one.inputs)
            call = graph.call_function(one.pipeline, inputs)
            for index, node in enumerate(one.results):
                values[node] = graph.call_function(operator.getitem, (call, index))
                values[node].meta = dict(node.meta)
    for node in source.nodes:
        if node.op == "output":
            copy(node)
    return graph
