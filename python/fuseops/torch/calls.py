# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators that stand for a pipeline where PyTorch traces.

`fuseops::pipeline_prepare`, `pipeline_forward` and `pipeline_backward` run an entry of
one of a pipeline's programs and give the outputs that are no alias of an input or of
another output: an operator may not return those. None has a gradient; `Pipeline` puts
them together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import torch

from fuseops.arrays import torch_dtype

if TYPE_CHECKING:
    from fuseops.torch.pipeline import Pipeline

# By the hash of what they compute, which is the same in every process. Equal
# layers have equal pipelines, and any of those that live will do.
_PIPELINES: defaultdict[str, WeakSet[Pipeline]] = defaultdict(WeakSet)
_PLAIN = frozenset((torch.Tensor, torch.nn.Parameter, torch.nn.Buffer))

_LIBRARY = torch.library.Library("fuseops", "FRAGMENT")
_LIBRARY.define(
    "pipeline_forward(Tensor[] inputs, str pipeline, bool[] needs) -> Tensor[]",
    tags=(torch.Tag.needs_exact_strides,),
)
_LIBRARY.define(
    "pipeline_prepare(Tensor[] inputs, str pipeline, bool[] needs) -> Tensor[]",
    tags=(torch.Tag.needs_exact_strides,),
)
_LIBRARY.define(
    "pipeline_backward(Tensor[] inputs, str pipeline, bool[] needs, int[] missing, SymInt rows)"
    " -> Tensor[]",
    tags=(torch.Tag.needs_exact_strides,),
)


def register(key: str, pipeline: Pipeline) -> None:
    """Lets the operators find a pipeline for as long as it lives."""
    _PIPELINES[key].add(pipeline)


def _find(key: str) -> Pipeline:
    return next(iter(_PIPELINES[key]))


def is_traced(inputs: Sequence[Any]) -> bool:
    """Whether a call is to be seen by a mode of PyTorch or by a tensor's class."""
    if torch._C._len_torch_dispatch_stack():
        return True
    return any(type(tensor) not in _PLAIN for tensor in inputs)


def forward(key: str, needs: Sequence[bool], inputs: Sequence[Any]) -> tuple[Any, ...]:
    """What `Program.run_forward` gives, by way of the operator."""
    program = _find(key).program(tuple(needs))
    made = torch.ops.fuseops.pipeline_forward(list(inputs), key, list(needs))
    return _with_aliases(program.forward_outputs, inputs, made)


def prepare(key: str, needs: Sequence[bool], inputs: Sequence[Any]) -> tuple[Any, ...]:
    """What `Program.run_prepare` gives, by way of the operator."""
    program = _find(key).program(tuple(needs))
    made = torch.ops.fuseops.pipeline_prepare(list(inputs), key, list(needs))
    return _with_aliases(program.prepare_outputs, inputs, made)


def backward(
    key: str, needs: Sequence[bool], missing: Sequence[int], rows: int, inputs: Sequence[Any]
) -> tuple[Any, ...]:
    """What `Program.run_backward` gives, by way of the operator."""
    program = _find(key).program(tuple(needs), tuple(missing))
    made = torch.ops.fuseops.pipeline_backward(list(inputs), key, list(needs), list(missing), rows)
    return _with_aliases(program.backward_outputs, inputs, made)


def is_made(info: Any) -> bool:
    """Whether an output has memory of its own."""
    return not info.is_none and info.alias_input < 0 and info.alias_output < 0


def _with_aliases(infos: Sequence[Any], inputs: Sequence[Any], made: Sequence[Any]) -> tuple:
    remaining, outputs = iter(made), []
    for info in infos:
        if is_made(info):
            outputs.append(next(remaining))
        elif info.is_none:
            outputs.append(None)
        else:
            is_input = info.alias_input >= 0
            source = inputs[info.alias_input] if is_input else outputs[info.alias_output]
            # Blocks have one shape only.
            is_view = None not in info.shape or any(
                per_symbol for _, per_symbol, *_ in info.extents
            )
            shape = _extents(info, _rows_like(source, info)) if is_view else source.shape
            outputs.append(source.reshape(shape))
    return tuple(outputs)


def _rows_like(source: Any, info: Any) -> Any:
    """`?` of a value that has another's elements."""
    if None not in info.shape:
        return 0
    others = 1
    for size in info.shape:
        others *= 1 if size is None else size
    return source.numel() // others if others else 0


def _extents(info: Any, rows: Any) -> list[Any]:
    return [
        constant + per_row * rows + per_32 * ((rows + 31) // 32) + per_128 * ((rows + 127) // 128)
        for constant, per_row, per_32, per_128 in info.extents
    ]


def _only_made(infos: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    return [output for info, output in zip(infos, outputs, strict=True) if is_made(info)]


def _allocate(infos: Sequence[Any], rows: Any, device: torch.device) -> list[torch.Tensor]:
    return [
        torch.empty(_extents(info, rows), dtype=torch_dtype(info.dtype), device=device)
        for info in infos
        if is_made(info)
    ]


def _forward(inputs: list[torch.Tensor], pipeline: str, needs: list[bool]) -> list[torch.Tensor]:
    program = _find(pipeline).program(tuple(needs))
    return _only_made(program.forward_outputs, program.run_forward(inputs))


def _fake_forward(inputs: list[Any], pipeline: str, needs: list[bool]) -> list[Any]:
    found = _find(pipeline)
    infos = found.program(tuple(needs)).forward_outputs
    return _allocate(infos, found.rows_of(inputs), inputs[0].device)


def _prepare(inputs: list[torch.Tensor], pipeline: str, needs: list[bool]) -> list[torch.Tensor]:
    program = _find(pipeline).program(tuple(needs))
    return _only_made(program.prepare_outputs, program.run_prepare(inputs))


def _fake_prepare(inputs: list[Any], pipeline: str, needs: list[bool]) -> list[Any]:
    infos = _find(pipeline).program(tuple(needs)).prepare_outputs
    return _allocate(infos, 0, inputs[0].device)


def _backward(
    inputs: list[torch.Tensor], pipeline: str, needs: list[bool], missing: list[int], rows: int
) -> list[torch.Tensor]:
    program = _find(pipeline).program(tuple(needs), tuple(missing))
    return _only_made(program.backward_outputs, program.run_backward(inputs))


def _fake_backward(
    inputs: list[Any], pipeline: str, needs: list[bool], missing: list[int], rows: Any
) -> list[Any]:
    program = _find(pipeline).program(tuple(needs), tuple(missing))
    return _allocate(program.backward_outputs, rows, inputs[0].device)


_LIBRARY.impl("pipeline_forward", _forward, "CompositeExplicitAutograd")
_LIBRARY.impl("pipeline_prepare", _prepare, "CompositeExplicitAutograd")
_LIBRARY.impl("pipeline_backward", _backward, "CompositeExplicitAutograd")
torch.library.register_fake("fuseops::pipeline_forward", _fake_forward, lib=_LIBRARY)
torch.library.register_fake("fuseops::pipeline_prepare", _fake_prepare, lib=_LIBRARY)
torch.library.register_fake("fuseops::pipeline_backward", _fake_backward, lib=_LIBRARY)
