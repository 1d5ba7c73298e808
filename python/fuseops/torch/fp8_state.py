# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The state of delayed scaling: a scale and a history of amaxes for each tensor.

Both are buffers of the module whose linear layer quantizes the tensor, so that they
are saved, loaded, copied and moved with it. Whatever graph the layer is part of, in
training or evaluation, of any batch size, finds them there. Their memory stays where
it is: a captured CUDA graph goes on with it. What Dynamo reaches no module for is held
by the compiled graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary, ref

import torch
from torch.fx import GraphModule, Node

from fuseops.compiler import compile_ir
from fuseops.program import Program
from fuseops.recipe import DelayedScaling, Format
from fuseops.torch import fp8

# The names of the buffers are `fp8_<input|weight|output_gradient>_<scale|history>`.
_PREFIX = "fp8_"


# Scale and history by the name of a tensor.
Buffers = dict[str, tuple[torch.Tensor, ...]]


class TensorState:
    """The scale `[]` and the history `[H]` of one tensor, both float32, newest last."""

    def __init__(self, owner: torch.nn.Module | None, name: str) -> None:
        self._owner = None if owner is None else ref(owner)
        self._names = (f"{_PREFIX}{name}_scale", f"{_PREFIX}{name}_history")
        self._own: dict[str, torch.Tensor | None] = {}
        self._fixed: list[torch.Tensor | None] = [None, None]

    def tensors(self, length: int, device: torch.device) -> list[torch.Tensor]:
        """Both, with a history of that length; made where there are none yet."""
        owner = self._owner and self._owner()
        buffers = self._own if owner is None else owner._buffers
        for index, name in enumerate(self._names):
            given, fixed = buffers.get(name), self._fixed[index]
            if given is fixed and fixed is not None and _is_fit(fixed, index, length, device):
                continue
            found = _fit(given, index, length, device)
            if fixed is not None and _is_fit(fixed, index, length, device):
                # Another tensor came in its place: loaded, or moved and back.
                found = fixed.copy_(found)
            self._fixed[index] = found
            if owner is None or name in buffers:
                buffers[name] = found
            else:
                owner.register_buffer(name, found)
        return self._fixed


def _is_fit(tensor: torch.Tensor, index: int, length: int, device: torch.device) -> bool:
    shape = (length,) if index else ()
    return (tensor.shape, tensor.device, tensor.dtype) == (shape, device, torch.float32)


def _fit(
    tensor: torch.Tensor | None, index: int, length: int, device: torch.device
) -> torch.Tensor:
    """A buffer as the recipe has it; another length keeps the newest amaxes."""
    if tensor is not None and _is_fit(tensor, index, length, device):
        return tensor
    with torch.no_grad():
        if not index:
            made = torch.ones((), device=device)
            return made if tensor is None else made.copy_(tensor)
        made = torch.zeros(length, device=device)
        if tensor is not None:
            kept = min(length, tensor.numel())
            made[length - kept :] = tensor[tensor.numel() - kept :]
        return made


_STATES: WeakKeyDictionary[torch.nn.Module, dict[str, TensorState]] = WeakKeyDictionary()


class Owners:
    """The modules of one graph of Dynamo, by the nodes that they call. Numbers the
    calls of each beyond the first."""

    def __init__(self, graph: GraphModule) -> None:
        self._modules: dict[str, ref[torch.nn.Module]] = {}
        # Of what has no module.
        self._own: dict[str, TensorState] = {}
        scope = _scope() or {}
        counts: dict[tuple[Any, Any], int] = {}
        # Parts under checkpoints are graphs in the graph.
        parts = [part for part in graph.modules() if isinstance(part, GraphModule)]
        nodes = [node for part in parts for node in part.graph.nodes]
        for node in nodes:
            if node.op not in ("call_function", "call_method"):
                continue
            key = fp8.module_key(node)
            module = fp8.module_of(node, scope)
            if module is not None:
                self._modules[key] = ref(module)
            called = (id(module) if module is not None else key, node.target)
            counts[called] = count = counts.get(called, -1) + 1
            if count:
                fp8.set_call(node, count)

    def state(self, node: Node, role: str) -> TensorState:
        """The state of a node's tensor: input, weight or output_gradient."""
        key, call = fp8.module_key(node), fp8.call_of(node)
        name = f"{call}_{role}" if call else role
        found = self._modules.get(key)
        module = found and found()
        if module is None:
            return self._own.setdefault(f"{key}.{name}", TensorState(None, name))
        states = _STATES.setdefault(module, {})
        return states.setdefault(name, TensorState(module, name))


def _scope() -> dict[str, Any] | None:
    """What the expressions of Dynamo's sources are of; None outside of Dynamo."""
    try:
        from torch._dynamo.symbolic_convert import (  # noqa: PLC0415 (private)
            InstructionTranslator,
        )

        output = InstructionTranslator.current_tx().output
        return {"L": output.local_scope, "G": output.global_scope}
    except Exception:
        # No interface of PyTorch's promises any of this.
        return None


@dataclass(frozen=True)
class Pair:
    """A scale `[n]` and a history `[H, n]` among a program's arguments."""

    scale: int
    history: int
    # `<name of a contraction>.<role>` for each column.
    names: tuple[str, ...]
    # The result with the next scale, before that with the next history; None where
    # backward gives both in the place of gradients.
    next: int | None
    length: int


def find_pairs(program: Program) -> tuple[Pair, ...]:
    """The state arguments of a program, in order."""
    arguments = program.report["arguments"]
    pairs = []
    for index, argument in enumerate(arguments):
        if argument.get("role") == "state" and "tensors" in argument:
            length = program.forward_inputs[index + 1].shape[0]
            names = tuple(argument["tensors"])
            pairs.append(Pair(index, index + 1, names, argument.get("next"), length))
    return tuple(pairs)


class Delayed:
    """The state that one pipeline's programs take and give."""

    def __init__(self, owners: Owners, graph: GraphModule, quantization: fp8.Quantization) -> None:
        self._states: dict[str, TensorState] = {}
        self._owners = owners
        self._calls = {name: node for node, name in fp8.name_calls(graph).items()}
        self._quantization = quantization
        self._pairs: dict[int, tuple[Pair, ...]] = {}
        # What the last forward that counted was quantized with, which checkpoints
        # run again.
        self._used: dict[tuple[str, ...], torch.Tensor] = {}

    def pairs(self, program: Program) -> tuple[Pair, ...]:
        """The state arguments of a program of the pipeline."""
        if id(program) not in self._pairs:
            self._pairs[id(program)] = find_pairs(program)
        return self._pairs[id(program)]

    def buffers(self, program: Program, device: torch.device) -> Buffers:
        """The memory of all state that a program takes."""
        return {
            name: tuple(self._find(name).tensors(pair.length, device))
            for pair in self.pairs(program)
            for name in pair.names
        }

    def _find(self, name: str) -> TensorState:
        found = self._states.get(name)
        if found is None:
            call, _, role = name.rpartition(".")
            found = self._states[name] = self._owners.state(self._calls[call], role)
        return found

    def forward(
        self,
        program: Program,
        run: Callable[[Sequence[torch.Tensor]], tuple[Any, ...]],
        buffers: Buffers,
        *,
        is_trained: bool,
    ) -> tuple[Any, ...]:
        """The outputs of forward, `run` with its state arguments, without what is saved
        of backward's. A call that is trained moves the state on."""
        pairs, is_again = self.pairs(program), is_recomputation()
        given = {pair: _read(pair, buffers) for pair in pairs}
        for pair in pairs if is_again else ():
            given[pair][0] = self._used.get(pair.names, given[pair][0])
        outputs = run([tensor for pair in pairs for tensor in given[pair]])
        for pair in pairs:
            if pair.next is not None and is_trained and not is_again:
                if type(given[pair][0]) is torch.Tensor:
                    self._used[pair.names] = given[pair][0]
                self._write(pair, buffers, given[pair], outputs[pair.next : pair.next + 2])
        own = _own_arguments(pairs)
        sources = (*[None] * program.num_results, *program.saved_sources)
        return tuple(o for o, s in zip(outputs, sources, strict=True) if s not in own)

    def backward(
        self,
        program: Program,
        run: Callable[[Sequence[torch.Tensor]], tuple[Any, ...]],
        gradients: Sequence[torch.Tensor],
        saved: Sequence[torch.Tensor],
        buffers: Buffers,
    ) -> tuple[Any, ...]:
        """The outputs of backward, `run` with what `forward` gave as saved and with the
        state as it is now, which it moves on."""
        own = _own_arguments(self.pairs(program))
        given = {pair: _read(pair, buffers) for pair in own.values()}
        remaining = iter(saved)
        inputs = list(gradients)
        for source in program.saved_sources:
            pair = own.get(source)
            if pair is None:
                inputs.append(next(remaining))
            else:
                inputs.append(given[pair][source[1] - pair.scale])
        outputs = run(inputs)
        for pair, old in given.items():
            self._write(pair, buffers, old, outputs[pair.scale : pair.scale + 2])
        return outputs

    def _write(
        self,
        pair: Pair,
        buffers: Buffers,
        given: Sequence[torch.Tensor],
        made: Sequence[torch.Tensor],
    ) -> None:
        """Puts what a program made of the two arguments into the buffers."""
        scale, history = self._reduced(pair, given, made)
        torch._foreach_copy_([buffers[name][0] for name in pair.names], scale.unbind())
        rows = history.t().contiguous().unbind()
        torch._foreach_copy_([buffers[name][1] for name in pair.names], rows)

    def _reduced(
        self, pair: Pair, given: Sequence[torch.Tensor], made: Sequence[torch.Tensor]
    ) -> Sequence[torch.Tensor]:
        """The same with the largest amaxes of all processes."""
        recipe = self._quantization.recipe
        if not isinstance(recipe, DelayedScaling) or not recipe.reduce_amax:
            return made
        group = fp8.find_group(self._quantization.group)
        if group is None:
            return made
        amax = made[1][-1].clone()
        torch.distributed.all_reduce(amax, torch.distributed.ReduceOp.MAX, group)
        program = _update_program(recipe, pair.next is not None, len(pair.names), amax.device.type)
        return program.run_forward((*given, amax))


def _own_arguments(pairs: Sequence[Pair]) -> dict[Any, Pair]:
    """The pairs that backward moves on, by their arguments as `Program.saved_sources`
    has them."""
    own = [pair for pair in pairs if pair.next is None]
    return {("argument", pair.scale + index): pair for pair in own for index in (0, 1)}


def _read(pair: Pair, buffers: Buffers) -> list[torch.Tensor]:
    """Both arguments, in memory of their own."""
    found = [buffers[name] for name in pair.names]
    return [torch.stack([scale for scale, _ in found]), torch.stack([h for _, h in found], 1)]


def is_recomputation() -> bool:
    """Whether a checkpoint runs forward for the second time."""
    if torch._C._current_graph_task_id() == -1:
        return False
    hooks = torch._C._autograd._top_saved_tensors_default_hooks(True)
    return hooks is not None and "_recomputation_hook" in getattr(hooks[0], "__qualname__", "")


@cache
def _update_program(recipe: DelayedScaling, is_forward: bool, count: int, target: str) -> Program:
    """`fuseops.update_scale` by itself."""
    is_e4m3 = is_forward or recipe.fp8_format is Format.E4M3
    row, rows = f"tensor<{count}xf32>", f"tensor<{recipe.amax_history_len}x{count}xf32>"
    words = ["most_recent"] if recipe.amax_compute_algo == "most_recent" else []
    words += [f"{{margin = {recipe.margin} : i64}}"] if recipe.margin else []
    return compile_ir(
        f"fuseops.fusible @update_scale(%s: {row}, %h: {rows}, %a: {row}) -> ({row}, {rows})\n"
        "forward {\n"
        f"  %s1, %h1 = fuseops.update_scale %s, %h, %a format({_FORMATS[is_e4m3]})"
        f" {' '.join(words)} : {row}, {rows}\n"
        f"  fuseops.return %s1, %h1 : {row}, {rows}\n"
        "}\n",
        target=target,
    )


_FORMATS = {True: "f8E4M3FN", False: "f8E5M2"}
