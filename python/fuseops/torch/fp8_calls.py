# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of programs that have a recipe: with prepared weights and with state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node

from fuseops.program import Program
from fuseops.torch import fp8
from fuseops.torch.fp8_state import (
    Columns,
    Pair,
    TensorState,
    find_pairs,
    is_recomputation,
    reduce,
)
from fuseops.torch.fp8_weights import Weight, look_up, number_calls, weight_of

__all__ = ["Bound", "Keeper", "number_calls"]

# Runs an entry of a program.
Run = Callable[[Sequence[torch.Tensor]], tuple[Any, ...]]


@dataclass(frozen=True)
class Layout:
    """What a program takes beside the inputs of its pipeline."""

    # State of forward and backward.
    pairs: tuple[Pair, ...]
    # Which inputs `prepare` takes first.
    weights: tuple[int, ...]
    # The state that it takes behind them.
    prepare_pairs: tuple[Pair, ...]
    # Which of its outputs forward takes.
    prepared: tuple[int, ...]

    @property
    def num_arguments(self) -> int:
        """The number of forward's arguments that are no input of the pipeline."""
        return 2 * len(self.pairs) + len(self.prepared)

    @property
    def own(self) -> dict[Any, Pair]:
        """The pairs that backward moves on, by their arguments as
        `Program.saved_sources` has them."""
        own = [pair for pair in self.pairs if pair.next is None]
        return {("argument", pair.scale + index): pair for pair in own for index in (0, 1)}


def _find_layout(program: Program) -> Layout:
    report = program.report
    arguments = report["arguments"]
    prepare = report.get("prepare", {"arguments": []})["arguments"]
    return Layout(
        find_pairs(arguments, program.forward_inputs),
        tuple(entry["argument"] for entry in prepare if entry["role"] == "weight"),
        find_pairs(prepare, program.prepare_inputs),
        tuple(entry["prepared"] for entry in arguments if entry.get("role") == "prepared"),
    )


class Keeper:
    """What calls of one pipeline need to find what is kept for its weights.

    `inputs` are the nodes of Dynamo's graph that its inputs are.
    """

    def __init__(
        self, graph: GraphModule, inputs: Sequence[Node], quantization: fp8.Quantization
    ) -> None:
        self.quantization = quantization
        self._layouts: dict[int, Layout] = {}
        # Whether an input may be a parameter.
        self._is_given = [node.op in ("placeholder", "get_attr") for node in inputs]
        placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
        # Of each product the number of its weight among the inputs, and which of the
        # weight's products it is.
        self._weights: dict[str, int] = {}
        self._calls: dict[str, int] = {}
        for node, name in fp8.name_calls(graph).items():
            weight, self._calls[name] = weight_of(node), fp8.call_of(node)
            if weight in placeholders and self.is_given(placeholders.index(weight)):
                self._weights[name] = placeholders.index(weight)
        self._indices = list(dict.fromkeys(self._weights.values()))
        # Of products whose weights are none.
        self._own: dict[str, TensorState] = {}

    def is_given(self, index: int) -> bool:
        """Whether an input is one of Dynamo's graph."""
        return index < len(self._is_given) and self._is_given[index]

    def layout(self, program: Program) -> Layout:
        """What a program of the pipeline takes; the pipeline holds the program."""
        if id(program) not in self._layouts:
            self._layouts[id(program)] = _find_layout(program)
        return self._layouts[id(program)]

    def bind(self, inputs: Sequence[torch.Tensor]) -> Bound:
        """What is kept for the weights of a call with these inputs."""
        found = look_up([inputs[index] for index in self._indices])
        return Bound(self, inputs, dict(zip(self._indices, found, strict=True)))

    def state(self, name: str, weights: Mapping[int, Weight]) -> TensorState:
        """That of a tensor, `<name of a product>.<role>`."""
        call, _, role = name.rpartition(".")
        index, count = self._weights.get(call), self._calls[call]
        if index is None:
            if name not in self._own:
                self._own[name] = TensorState(None, role)
            return self._own[name]
        return weights[index].state(f"{count}_{role}" if count and role != "weight" else role)


class Bound:
    """What is kept for one call."""

    def __init__(
        self, keeper: Keeper, inputs: Sequence[torch.Tensor], weights: Mapping[int, Weight]
    ) -> None:
        self._keeper = keeper
        # As the caller has them, when nothing has been copied yet.
        self._inputs = inputs
        self._weights = weights

    def forward(
        self,
        program: Program,
        run: Run,
        prepare: Run,
        inputs: Sequence[torch.Tensor],
        *,
        is_trained: bool,
        is_traced: bool,
    ) -> tuple[Any, ...]:
        """The outputs of forward, `run` with what it takes beside the inputs, without
        what is saved of backward's state. A call that is trained moves state on."""
        layout, is_again = self._keeper.layout(program), is_recomputation()
        moves_on = is_trained and not is_again
        weights = self._prepare(program, prepare, inputs, moves_on=moves_on, is_traced=is_traced)
        columns = self._columns(layout.pairs, inputs[0].device)
        given = [column.read(is_again=is_again) for column in columns]
        outputs = run([*(tensor for pair in given for tensor in pair), *weights])
        if moves_on:
            self._move_on(layout.pairs, columns, given, outputs)
        own = layout.own
        sources = (*[None] * program.num_results, *program.saved_sources)
        return tuple(o for o, s in zip(outputs, sources, strict=True) if s not in own)

    def _prepare(
        self,
        program: Program,
        run: Run,
        inputs: Sequence[torch.Tensor],
        *,
        moves_on: bool,
        is_traced: bool,
    ) -> list[Any]:
        """The weights as forward takes them."""
        layout = self._keeper.layout(program)
        if not layout.weights:
            return []
        given = [self._inputs[index] for index in layout.weights]
        kept = None
        if not is_traced and all(map(self._keeper.is_given, layout.weights)):
            kept = self._weights[layout.weights[0]]
            kept.is_captured |= given[0].is_cuda and torch.cuda.is_current_stream_capturing()
        outputs = kept and kept.find(program, given, is_trained=moves_on)
        if outputs is None:
            columns = self._columns(layout.prepare_pairs, given[0].device)
            state = [column.read(is_again=is_recomputation()) for column in columns]
            taken = [inputs[index] for index in layout.weights]
            outputs = run([*taken, *(tensor for pair in state for tensor in pair)])
            if moves_on:
                self._move_on(layout.prepare_pairs, columns, state, outputs)
            if kept is not None:
                kept.keep(program, given, outputs, is_trained=moves_on)
        return [outputs[index] for index in layout.prepared]

    def backward(
        self,
        program: Program,
        run: Run,
        gradients: Sequence[torch.Tensor],
        saved: Sequence[torch.Tensor],
    ) -> tuple[Any, ...]:
        """The outputs of backward, `run` with what `forward` gave as saved and with the
        state as it is now, which it moves on."""
        own = self._keeper.layout(program).own
        pairs = list(dict.fromkeys(own.values()))
        columns = self._columns(pairs, gradients[0].device)
        given = {pair: column.read() for pair, column in zip(pairs, columns, strict=True)}
        remaining = iter(saved)
        inputs = list(gradients)
        for source in program.saved_sources:
            pair = own.get(source)
            found = next(remaining) if pair is None else given[pair][source[1] - pair.scale]
            inputs.append(found)
        outputs = run(inputs)
        for pair, column in zip(pairs, columns, strict=True):
            made = outputs[pair.scale : pair.scale + 2]
            column.write(reduce(pair, given[pair], made, self._keeper.quantization))
        return outputs

    def _columns(self, pairs: Sequence[Pair], device: torch.device) -> list[Columns]:
        return [
            Columns([self._keeper.state(n, self._weights) for n in pair.names], pair, device)
            for pair in pairs
        ]

    def _move_on(
        self,
        pairs: Sequence[Pair],
        columns: Sequence[Columns],
        given: Sequence[Sequence[torch.Tensor]],
        outputs: Sequence[Any],
    ) -> None:
        for pair, column, old in zip(pairs, columns, given, strict=True):
            if pair.next is not None:
                column.keep_used(old[0])
                made = outputs[pair.next : pair.next + 2]
                column.write(reduce(pair, old, made, self._keeper.quantization))
