# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which nodes of Dynamo's graph a pipeline may hold, and why not the others."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree

from fuseops.compiler import emit
from fuseops.errors import FuseOpsError
from fuseops.torch.checkpointing import Checkpointed
from fuseops.torch.importer import Gradients, import_graph
from fuseops.torch.layouts import find_order
from fuseops.torch.modes import is_mode_change, modes_of
from fuseops.torch.partition import Effect, is_view
from fuseops.torch.trace import example_of, extract, tensors_of, trace


@dataclass(frozen=True)
class Verdict:
    """What a look at one node came to."""

    # Why no pipeline holds it; None if one may.
    reason: str | None = None
    effect: Effect = Effect.NONE
    # The operators that it calls.
    operators: tuple[str, ...] = ()


class Support:
    """Looks at each node once: traces it alone, and lets the compiler derive its
    backward and lower it for the target."""

    def __init__(self, module: GraphModule, fake_mode: Any, target: str) -> None:
        self._module = module
        self.fake_mode = fake_mode
        self._target = target
        self.modes = modes_of(module.graph)
        self._verdicts: dict[Node, Verdict] = {}
        # Equal calls have equal verdicts.
        self._known: dict[Any, Verdict] = {}

    def of(self, node: Node) -> Verdict:
        """The verdict on a node."""
        if node not in self._verdicts:
            self._verdicts[node] = self._look(node)
        return self._verdicts[node]

    def refuse(self, nodes: Sequence[Node], reason: str) -> None:
        """Puts nodes into the rest after all."""
        for node in nodes:
            self._verdicts[node] = Verdict(reason, operators=self.of(node).operators)

    def _look(self, node: Node) -> Verdict:
        if node.op in ("placeholder", "get_attr", "output"):
            return Verdict("an input")
        if is_mode_change(node):
            return Verdict("a change of modes")
        if node.target is operator.getitem and isinstance(example_of(node.args[0]), (tuple, list)):
            # An element is where the tuple is.
            return self.of(node.args[0])
        if isinstance(node.target, Checkpointed):
            effect = Effect.UNKNOWN if node.target.has_effect else Effect.RANDOM
            return Verdict("a checkpointed part", effect)
        if node.op not in ("call_function", "call_method"):
            return Verdict(f"a {node.op}", effect=Effect.UNKNOWN)
        if not tensors_of(node):
            is_size = isinstance(example_of(node), (int, torch.SymInt, torch.Size))
            return Verdict("makes no tensor", Effect.NONE if is_size else Effect.UNKNOWN)
        key = self._key(node)
        if key not in self._known:
            with self.modes[node].entered():
                self._known[key] = self._examine(node)
        return self._known[key]

    def _examine(self, node: Node) -> Verdict:
        inputs = list(node.all_input_nodes)
        try:
            traced = trace(
                extract(self._module, [node], inputs, [node], is_split=True), self.fake_mode
            )
        except Exception as error:
            # Whatever PyTorch raises says that the node has to run as it is.
            return Verdict(f"cannot be traced: {_first_line(error)}", effect=Effect.UNKNOWN)
        operators = tuple(str(n.target) for n in traced.graph.nodes if n.op == "call_function")
        effect, by = effect_of(traced)
        if effect is Effect.WRITES:
            return Verdict(f"writes an argument: {by}", effect, operators)
        reason = self._reason(node, inputs) or self._refusal(traced, inputs)
        return Verdict(reason, effect, operators)

    def _reason(self, node: Node, inputs: list[Node]) -> str | None:
        """Why the values are none that a pipeline takes or gives."""
        tensors = [t for n in (*inputs, node) for t in tensors_of(n)]
        if isinstance(example_of(node), (tuple, list)) and not all(
            user.target is operator.getitem for user in node.users
        ):
            return "a tuple that is used as a whole"
        kind = self._target.partition(":")[0]
        for tensor in tensors:
            if type(tensor).__name__ not in ("FakeTensor", "Parameter", "Buffer"):
                return f"a tensor of type {type(tensor).__name__}"
            if tensor.device.type != kind:
                return f"a tensor on {tensor.device}"
            if tensor.layout != torch.strided:
                return f"a tensor of layout {tensor.layout}"
        if len({tensor.device for tensor in tensors}) > 1:
            return "tensors on several devices"
        results = tensors_of(node)
        if torch.is_grad_enabled() and not any(t.requires_grad for t in results):
            is_cut = any(t.requires_grad for n in inputs for t in tensors_of(n))
            if is_cut and any(t.is_floating_point() for t in results):
                return "lets no gradient through"
        if not is_view(node) and any(find_order(tensor) is None for tensor in results):
            return f"a result with strides {tuple(results[0].stride())}"
        return None

    def _refusal(self, traced: GraphModule, inputs: list[Node]) -> str | None:
        """What the compiler says against it."""
        needs = [t.requires_grad for n in inputs for t in tensors_of(n)]
        frozen = [index for index, needed in enumerate(needs) if not needed]
        try:
            text = import_graph(traced, "probe", Gradients(frozen))
            emit(text, "ir", target=self._target, compile_to="lowering")
        except FuseOpsError as error:
            return _first_line(error)
        return None

    def _key(self, node: Node) -> Any:
        def describe(value: Any) -> Any:
            if isinstance(value, Node):
                return describe(example_of(value))
            if isinstance(value, torch.Tensor):
                sizes = tuple(str(size) for size in value.shape)
                strides = tuple(str(stride) for stride in value.stride())
                return (value.dtype, value.device, sizes, strides, value.requires_grad)
            return repr(value)

        leaves, structure = pytree.tree_flatten(
            (node.args, dict(node.kwargs)), is_leaf=lambda leaf: isinstance(leaf, slice)
        )
        described = tuple(map(describe, leaves))
        return (node.op, node.target, described, str(structure), self.modes[node], describe(node))


def effect_of(traced: GraphModule) -> tuple[Effect, str]:
    """The effect of a traced graph, and the operator that has it."""
    found = Effect.NONE, ""
    for node in traced.graph.nodes:
        if not isinstance(node.target, torch._ops.OpOverload):
            continue
        if node.target._schema.is_mutable:
            return Effect.WRITES, str(node.target)
        if torch.Tag.nondeterministic_seeded in node.target.tags:
            found = Effect.RANDOM, str(node.target)
    return found


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    errors = [line.partition("error: ")[2] for line in lines if "error: " in line]
    return (errors or lines or [type(error).__name__])[0]
