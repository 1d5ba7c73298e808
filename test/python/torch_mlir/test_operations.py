# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that torch-mlir's suite has and PyTorch's tables of samples hardly do: through the
importer against eager, with what the program holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir.fx")

from fuseops.torch_mlir import FuseOpsBackend, export_and_import  # noqa: E402

aten, prims, F = torch.ops.aten, torch.ops.prims, torch.nn.functional


class Call(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def normal(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(sizes, generator=torch.Generator().manual_seed(sum(sizes) + 1)).to(dtype)


def integers(*sizes: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(sizes) + 2)
    return torch.randint(-100, 100, sizes, generator=generator).to(dtype)


def infinite_rows() -> torch.Tensor:
    x = normal(4, 8)
    x[1] = -torch.inf
    x[2, 3] = -torch.inf
    return x


def group_norm_backward(mask: list[bool], weight: bool = True) -> tuple[Any, ...]:
    def function(dy: Any, x: Any, mean: Any, rstd: Any, gamma: Any) -> Any:
        gamma = gamma if weight else None
        results = aten.native_group_norm_backward(dy, x, mean, rstd, gamma, 2, 6, 20, 3, mask)
        return tuple(r for r, wanted in zip(results, mask, strict=True) if wanted)

    x = normal(2, 6, 4, 5)
    _, mean, rstd = aten.native_group_norm(x, None, None, 2, 6, 20, 3, 1e-5)
    return function, normal(2, 6, 4, 5).flip(0), x, mean, rstd, normal(6)


I8, I32 = torch.int8, torch.int32
SPEC: list[tuple[Any, ...]] = [
    ("aten._int_mm", aten._int_mm, integers(3, 5, dtype=I8), integers(5, 4, dtype=I8)),
    ("aten.mm", aten.mm, integers(3, 5, dtype=I8), integers(5, 4, dtype=I8)),
    ("aten.mm", aten.mm, integers(3, 0, dtype=I8), integers(0, 4, dtype=I8)),
    ("aten.bmm", aten.bmm, integers(2, 3, 5), integers(2, 5, 4)),
    ("aten.mv", aten.mv, integers(3, 5, dtype=I32), integers(5, dtype=I32)),
    ("aten.matmul", torch.matmul, integers(3, 1, 4, 5), integers(2, 5, 6)),
    ("aten.matmul", lambda x, y: x.t() @ y.t(), integers(5, 3), integers(4, 5)),
    ("aten.outer", torch.outer, normal(3), normal(4, dtype=torch.float64)),
    ("aten.outer", torch.outer, integers(3, dtype=I8), integers(4)),
    ("aten.bilinear", F.bilinear, normal(5, 3), normal(5, 4), normal(2, 3, 4), normal(2)),
    ("aten.bilinear", F.bilinear, normal(2, 5, 3), normal(2, 5, 4), normal(2, 3, 4)),
    ("aten.einsum", lambda x, y: torch.einsum("...mn,nd", x, y), normal(2, 3, 4), normal(4, 5)),
    ("aten.einsum", lambda x: torch.einsum("iijj->ij", x), normal(3, 3, 4, 4)),
    ("aten.einsum", lambda x: torch.einsum("iii->i", x), normal(3, 3, 3)),
    (
        "aten.einsum",
        lambda x, y, z: torch.einsum("ij,jk,kl->il", x, y, z),
        *(normal(2, 3), normal(3, 4), normal(4, 5)),
    ),
    (
        "aten.einsum",
        lambda x, y: torch.einsum("...ik,...kj->...ij", x, y),
        *(normal(7, 4, 5), normal(3, 1, 5, 6)),
    ),
    ("aten._safe_softmax", lambda x: aten._safe_softmax(x, 1), infinite_rows()),
    ("aten._safe_softmax", lambda x: aten._safe_softmax(x, 0), infinite_rows()),
    (
        "aten._weight_norm_interface",
        lambda v, g: aten._weight_norm_interface(v, g, 0),
        *(normal(4, 3, 5), normal(4, 1, 1)),
    ),
    (
        "aten._weight_norm_interface",
        lambda v, g: aten._weight_norm_interface(v, g, 2),
        *(normal(4, 3, 5), normal(1, 1, 5)),
    ),
    ("aten.cosine_similarity", F.cosine_similarity, normal(4, 8), normal(1, 8)),
    ("aten.cosine_similarity", F.cosine_similarity, torch.zeros(4, 8), normal(4, 8)),
    ("aten.linalg_norm", torch.linalg.norm, normal(4, 8)),
    ("aten.linalg_norm", lambda x: torch.linalg.norm(x, 3, 1, True), normal(4, 8)),
    (
        "aten.instance_norm",
        lambda x, w, b: F.instance_norm(x, weight=w, bias=b),
        *(normal(2, 6, 5), normal(6), normal(6)),
    ),
    (
        "aten.instance_norm",
        lambda x, m, v: F.instance_norm(x, m, v, use_input_stats=False),
        *(normal(2, 6, 5), normal(6), normal(6).abs()),
    ),
    ("aten.native_group_norm_backward", *group_norm_backward([True, True, True])),
    ("aten.native_group_norm_backward", *group_norm_backward([True, False, True])),
    ("aten.native_group_norm_backward", *group_norm_backward([True, False, False], weight=False)),
    ("aten.broadcast_tensors", torch.broadcast_tensors, normal(4, 1), normal(3)),
    ("aten.channel_shuffle", lambda x: F.channel_shuffle(x, 3), normal(2, 6, 4, 5)),
    ("aten.pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), normal(2, 8, 3, 5)),
    ("aten.pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), normal(3, 4, 6)),
    ("aten.column_stack", lambda *x: torch.column_stack(x), normal(4), normal(4, 2)),
    ("aten.column_stack", lambda *x: torch.column_stack(x), normal(), integers()),
    ("aten.hstack", lambda *x: torch.hstack(x), normal(), normal(3)),
    ("aten.hstack", lambda *x: torch.hstack(x), normal(4, 2, 3), integers(4, 3, 3)),
    ("aten.pad", lambda x: F.pad(x, (1, -2, 0, 3), value=2.0), normal(4, 5)),
    ("aten.pad", lambda x: F.pad(x, (1, 2), "replicate"), normal(2, 4, 3)),
    ("aten.pad", lambda x: F.pad(x, (3, -1), "circular"), normal(2, 4, 5)),
    ("aten.pad", lambda x: F.pad(x, (2, 1), "reflect"), normal(2, 4, 3)),
    ("aten.view.dtype", lambda x: x.view(I8), normal(3, 2)),
    ("aten.view.dtype", lambda x: x.view(torch.int16), normal(3, 2, dtype=torch.bfloat16)),
    ("aten.view.dtype", lambda x: x.view(torch.float32), normal(3, 2, dtype=torch.float64)),
    ("prims.sum", lambda x: prims.sum(x, [0, 2]), normal(2, 3, 4)),
    ("prims.prod", lambda x: prims.prod(x, [0, 1, 2]), normal(2, 3, 4)),
    ("aten.sum.dim_IntList", lambda x: x.sum(-1), 100 + torch.rand(2, 1 << 20)),
    ("aten.std.correction", lambda x: x.std(-1, correction=2), 100 + torch.rand(2, 1 << 20)),
    (
        "aten.threshold_backward",
        lambda dy, x: aten.threshold_backward(dy, x, 1),
        *(integers(4, 5), integers(4, 5).flip(0)),
    ),
]
SPEC += [
    (f"aten._cast_{name}", getattr(aten, f"_cast_{name}"), 10 * normal(4, 5))
    for name in ("Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short")
]


@pytest.mark.parametrize(("name", "function", "args"), [(s[0], s[1], s[2:]) for s in SPEC])
def test_results_are_eager_s(name: str, function: Callable[..., Any], args: tuple[Any, ...]):
    module = export_and_import(Call(function), *args)
    text = module.operation.get_asm()
    # Else the importer took the operation apart, and something else was tested.
    assert f"torch.{name} " in text or f'"torch.{name}"' in text
    backend = FuseOpsBackend()
    got, expected = backend.load(backend.compile(module)).main(*args), function(*args)
    got = got if isinstance(got, tuple) else (got,)
    expected = tuple(expected) if isinstance(expected, (tuple, list)) else (expected,)
    for one, other in zip(got, expected, strict=True):
        exact = not other.dtype.is_floating_point
        tolerance = {"rtol": 0, "atol": 0} if exact else {"rtol": 2e-5, "atol": 2e-6}
        torch.testing.assert_close(one, other, **tolerance)


@pytest.mark.parametrize("out_dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("format", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_scaled_mm(format: torch.dtype, out_dtype: torch.dtype):
    def function(x: torch.Tensor, y: torch.Tensor, s: torch.Tensor, t: torch.Tensor) -> Any:
        return aten._scaled_mm(x.to(format), y.to(format), s, t, out_dtype=out_dtype)

    # Row-major, as torch-mlir's suite has it: only CUDA's eager wants columns.
    args = (normal(16, 32), normal(32, 48), torch.tensor(0.5), torch.tensor(3.0))
    module = export_and_import(Call(function), *args)
    assert "torch.aten._scaled_mm" in module.operation.get_asm()
    backend = FuseOpsBackend()
    got = backend.load(backend.compile(module)).main(*args)
    x, y = (value.to(format).double() for value in args[:2])
    assert got.dtype == out_dtype
    torch.testing.assert_close(got, (1.5 * x @ y).to(out_dtype), rtol=1e-2, atol=1e-5)
