# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fake and real results and gradients agree in size, dtype, stride, device and offset."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from torch_operators.cases import CASES, Case
from torch_operators.test_operators import DTYPES, require_grad


def _strided(tensor: torch.Tensor) -> torch.Tensor:
    """The same elements with gaps in the last dimension, after an offset."""
    base = tensor.new_zeros((*tensor.shape[:-1], tensor.shape[-1] * 2 + 1))
    return base[..., 1::2].copy_(tensor)


def _turned(tensor: torch.Tensor) -> torch.Tensor:
    """The same elements with the first and the last dimension's strides swapped."""
    return tensor.transpose(0, -1).contiguous().transpose(0, -1)


def _repeated(tensor: torch.Tensor) -> torch.Tensor:
    """One row for all: strides of 0."""
    return tensor[(0,) * (tensor.dim() - 1)].expand(tensor.shape) if tensor.numel() else tensor


def _packed(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


# Leading sizes, with how arguments and incoming gradients lie in memory.
LAYOUTS: list[tuple[tuple[int, ...], Callable[[torch.Tensor], torch.Tensor]]] = [
    *((leading, _packed) for leading in [(5,), (2, 3), (1,), (), (0,), (2, 0), (2, 1, 3)]),
    *itertools.product([(5,), (2, 1, 3)], [_strided, _turned, _repeated]),
]


def patterns(case: Case) -> list[tuple[str, ...]]:
    """Which arguments want gradients: none, each alone, all."""
    return list(dict.fromkeys([(), *((name,) for name in case.wanted), tuple(case.wanted)]))


def describe(tensor: torch.Tensor | None) -> Any:
    if tensor is None:
        return None
    return (
        tuple(tensor.shape),
        tensor.dtype,
        tensor.stride(),
        tensor.storage_offset(),
        tensor.device,
        tensor.requires_grad,
    )


def run(case: Case, tensors: dict[str, Any], names: tuple[str, ...], layout: Any) -> list[Any]:
    """What all results and gradients are like, hidden results too, for all results'
    gradients and for each one's alone."""
    tensors = {
        name: None if tensor is None else tensor.requires_grad_(name in names)
        for name, tensor in tensors.items()
    }
    operator = getattr(torch.ops.fuseops, case.operator)
    made = operator(*tensors.values(), *case.attributes)
    found = [describe(tensor) for tensor in ([made] if torch.is_tensor(made) else made)]
    results = case.call(tensors)
    wanted = [tensors[name] for name in names]
    if not wanted:
        return found
    for chosen in dict.fromkeys([tuple(results), *((result,) for result in results)]):
        chosen = [result for result in chosen if result.requires_grad]  # noqa: PLW2901
        gradients = [layout(torch.ones_like(result)) for result in chosen]
        made = torch.autograd.grad(chosen, wanted, gradients, retain_graph=True, allow_unused=True)
        found += [describe(tensor) for tensor in made]
    return found


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_fake_is_real(
    case: Case, dtype: torch.dtype, device: str, record_property: Callable[[str, object], None]
) -> None:
    names = patterns(case) if dtype in (torch.float32, torch.bfloat16) else [tuple(case.wanted)]
    compared, differences = 0, []
    for pattern, (leading, layout) in itertools.product(names, LAYOUTS):
        tensors = {
            name: None if tensor is None else layout(tensor).detach()
            for name, tensor in case.make(leading, dtype, device).items()
        }
        with FakeTensorMode() as mode:
            fakes = {
                name: None if tensor is None else mode.from_tensor(tensor)
                for name, tensor in tensors.items()
            }
            fake = run(case, fakes, pattern, layout)
        real = run(case, tensors, pattern, layout)
        assert len(fake) == len(real)
        compared += len(real)
        differences += [
            (pattern, leading, layout.__name__, *pair)
            for pair in zip(fake, real, strict=True)
            if pair[0] != pair[1]
        ]
    assert compared
    record_property("compared", compared)
    assert not differences


@pytest.mark.parametrize("case", CASES, ids=str)
def test_opcheck(case: Case, device: str) -> None:
    tensors = require_grad(case.make((2, 3), torch.float32, device), case.wanted)
    operator = getattr(torch.ops.fuseops, case.operator).default
    torch.library.opcheck(operator, (*tensors.values(), *case.attributes))
    # Its backward, of all results and for all arguments.
    made = operator(*tensors.values(), *case.attributes)
    results = (made,) if isinstance(made, torch.Tensor) else made
    names = [entry.name for entry in operator._schema.returns]
    named = {**tensors, **dict(zip(names, results, strict=True))}
    named.update((f"{n}_gradient", t.detach()) for n, t in zip(names, results, strict=True))
    backward = getattr(torch.ops.fuseops, f"{case.operator}_backward").default
    taken = [entry.name for entry in backward._schema.arguments if entry.name in named]
    given = [None if named[name] is None else named[name].detach() for name in taken]
    # Those of the arguments whose gradient is one that backward computes.
    needs = [not _is_passed_on(case, name) for name in tensors if name not in case.constant]
    torch.library.opcheck(backward, (*given, *case.attributes, needs))


def _is_passed_on(case: Case, name: str) -> bool:
    """Whether a gradient is absent, or that of another argument or of the result."""
    is_sum = case.operator.startswith(("skip", "bias_dropout", "bias_add"))
    is_result = name == "x" and case.operator == "bias_add"
    return case.arguments[name] is None or (name == "residual" and is_sum) or is_result


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradcheck(case: Case, device: str) -> None:
    tensors = require_grad(case.make((2, 3), torch.float64, device, seed=3), case.wanted)

    def function(*wanted: torch.Tensor) -> tuple[torch.Tensor, ...]:
        given = {**tensors, **dict(zip(case.wanted, wanted, strict=True))}
        return tuple(case.call(given))

    assert torch.autograd.gradcheck(function, [tensors[name] for name in case.wanted])
