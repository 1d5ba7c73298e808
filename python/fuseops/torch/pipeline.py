# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A traced graph as a differentiable call of compiled programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.autograd.function import once_differentiable
from torch.fx import GraphModule

from fuseops.compiler import compile_ir
from fuseops.program import Program
from fuseops.torch.importer import Gradients, import_graph

# Compiles text for a target; raises FuseOpsError.
Compile = Callable[[str, str], Program]


@dataclass(frozen=True)
class Result:
    """What the caller gets of a result."""

    # Whether a gradient flows back from it.
    has_gradient: bool
    # The permutation of the program's result that has eager's strides.
    order: tuple[int, ...] | None = None

    def from_program(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor if self.order is None else tensor.permute(self.order)

    def to_program(self, gradient: torch.Tensor) -> torch.Tensor:
        if self.order is None:
            return gradient
        inverse = sorted(range(len(self.order)), key=self.order.__getitem__)
        return gradient.permute(inverse)


def compile_text(text: str, target: str) -> Program:
    """Compiles without a recipe."""
    return compile_ir(text, target=target)


class Pipeline:
    """Calls of one traced graph, forward and backward.

    A call takes the graph's inputs and gives a tuple of its results. Programs are
    compiled for the gradients that are asked for and for those that arrive, each
    when it's first needed, and kept.
    """

    def __init__(
        self,
        name: str,
        graph: GraphModule,
        results: Sequence[Result],
        target: str,
        *,
        is_grad_enabled: bool = True,
        compile_program: Compile = compile_text,
    ) -> None:
        # FX names what it calls.
        self.name = self.__name__ = self.__qualname__ = name
        self.graph = graph
        self.results = tuple(results)
        self.target = target
        # The mode that the graph was traced in, whatever it's called in.
        self._is_grad_enabled = is_grad_enabled
        self._compile = compile_program
        self._programs: dict[tuple[Any, ...], Program] = {}
        self._constants = tuple(i for i, r in enumerate(self.results) if not r.has_gradient)

    def source(self, needs: Sequence[bool], missing: Sequence[int] = ()) -> str:
        """The text of the program for which inputs need a gradient, and the
        results whose gradient doesn't arrive."""
        frozen = tuple(index for index, needed in enumerate(needs) if not needed)
        absent = tuple(index for index in missing if index not in self._constants)
        return import_graph(self.graph, self.name, Gradients(frozen, self._constants, absent))

    def program(self, needs: tuple[bool, ...], missing: tuple[int, ...] = ()) -> Program:
        """The program for these gradients; compiles it if it's the first time."""
        found = self._programs.get((needs, missing))
        if found is None:
            # Two threads may compile one program: either is right.
            found = self._compile(self.source(needs, missing), self.target)
            self._programs[needs, missing] = found
        return found

    def __call__(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The results."""
        if self._is_grad_enabled and any(tensor.requires_grad for tensor in inputs):
            if torch.is_grad_enabled():
                return _Call.apply(self, *inputs)
            with torch.enable_grad():
                return _Call.apply(self, *inputs)
        program = self.program((False,) * len(inputs))
        return self.run(program, inputs)

    def run(self, program: Program, inputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """The program's outputs: results in the caller's form, then saved values."""
        # Random operations take a seed and an offset from PyTorch's generator.
        if len(program.arguments) > len(inputs):
            device = inputs[0].device
            state = torch.empty(2, dtype=torch.int64, device=device).random_()
            inputs = (*inputs, state)
        outputs = program.run_forward(inputs)
        count = len(self.results)
        results = [r.from_program(t) for r, t in zip(self.results, outputs[:count], strict=True)]
        return (*results, *outputs[count:])


class _Call(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pipeline: Pipeline, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        needs = ctx.needs_input_grad[1:]
        outputs = pipeline.run(pipeline.program(needs), inputs)
        count = len(pipeline.results)
        results = outputs[:count]
        ctx.set_materialize_grads(False)
        ctx.pipeline = pipeline
        ctx.save_for_backward(*outputs[count:])
        ctx.mark_non_differentiable(*(results[index] for index in pipeline._constants))
        return results

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        pipeline = ctx.pipeline
        needs = ctx.needs_input_grad[1:]
        missing = tuple(index for index, gradient in enumerate(gradients) if gradient is None)
        if len(missing) == len(gradients):
            return (None,) * (1 + len(needs))
        missing = tuple(index for index in missing if index not in pipeline._constants)
        program = pipeline.program(needs, missing)
        given = [
            result.to_program(gradient)
            for result, gradient in zip(pipeline.results, gradients, strict=True)
            if gradient is not None and result.has_gradient
        ]
        outputs = program.run_backward((*given, *ctx.saved_tensors))
        return (None, *outputs[: len(needs)])
