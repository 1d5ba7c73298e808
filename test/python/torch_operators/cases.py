# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every operator of `torch.ops.fuseops`, with the formula that PyTorch has for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import fuseops.nn  # noqa: F401 - makes the operators
import torch
import torch.nn.functional as F
from philox import keep_mask

Tensors = dict[str, Any]

P = 0.3
EPS = 1e-5


@dataclass(frozen=True)
class Case:
    """An operator and its arguments in order, each with what its shape is: `rows` has
    the leading sizes and the given ones, `fixed` the given ones, `values` the leading
    ones; None is an argument that is absent. `reference` is the formula."""

    operator: str
    arguments: Mapping[str, tuple[Any, ...] | None]
    reference: Callable[..., Any]
    attributes: tuple[Any, ...] = ()
    name: str = ""
    constant: tuple[str, ...] = ("random_state", "target")
    classes: int = field(default=0)

    def __str__(self) -> str:
        return self.name or self.operator

    @property
    def wanted(self) -> list[str]:
        """The arguments that have a gradient."""
        given = [name for name, kind in self.arguments.items() if kind is not None]
        return [name for name in given if name not in self.constant]

    def make(
        self, leading: Sequence[int], dtype: torch.dtype, device: str, seed: int = 0
    ) -> Tensors:
        """Fresh random arguments."""
        generator = torch.Generator().manual_seed(seed)
        made: Tensors = {}
        for name, kind in self.arguments.items():
            if kind is None:
                made[name] = None
                continue
            where, *sizes = kind
            shape = (*(() if where == "fixed" else leading), *sizes)
            if name == "random_state":
                made[name] = torch.randint(0, 2**62, (2,), generator=generator)
            elif name == "target":
                made[name] = torch.randint(0, self.classes, shape, generator=generator)
            else:
                made[name] = torch.randn(shape, generator=generator).to(dtype)
            made[name] = made[name].to(device)
        return made

    def call(self, tensors: Mapping[str, Any]) -> list[torch.Tensor]:
        """The operator's results that have a gradient."""
        operator = getattr(torch.ops.fuseops, self.operator)
        made = operator(*tensors.values(), *self.attributes)
        made = [made] if isinstance(made, torch.Tensor) else list(made)
        return made[: 2 if "residual" in self.arguments and "norm" in self.operator else 1]

    def expected(self, tensors: Mapping[str, Any]) -> list[torch.Tensor]:
        """The same by the formula, in the tensors' own dtype."""
        made = self.reference(**tensors)
        return [made] if isinstance(made, torch.Tensor) else list(made)


def _dropout(x: torch.Tensor, random_state: torch.Tensor) -> torch.Tensor:
    seed, offset = random_state.tolist()
    kept = torch.from_numpy(keep_mask(tuple(x.shape), seed, offset, P)).to(x.device)
    return torch.where(kept, x / (1 - P), torch.zeros_like(x))


def _halves(function: Callable[..., torch.Tensor], **options: Any) -> Callable[..., Any]:
    def reference(x: torch.Tensor) -> torch.Tensor:
        first, second = x.chunk(2, -1)
        return function(first, **options) * second

    return reference


def _glu(x: torch.Tensor) -> torch.Tensor:
    return F.glu(x)


def _norm(kind: str, x: Any, weight: Any = None, bias: Any = None) -> torch.Tensor:
    if kind == "rms":
        return F.rms_norm(x, x.shape[-1:], weight, EPS)
    return F.layer_norm(x, x.shape[-1:], weight, bias, EPS)


def _norm_of_sum(kind: str) -> Callable[..., Any]:
    def reference(x: Any, residual: Any, random_state: Any = None, **factors: Any) -> Any:
        total = (x if random_state is None else _dropout(x, random_state)) + residual
        return _norm(kind, total, **factors), total

    return reference


def _bias_dropout_add(x: Any, residual: Any, bias: Any, random_state: Any = None) -> Any:
    x = x if bias is None else x + bias
    return (x if random_state is None else _dropout(x, random_state)) + residual


def _rotate_half(x: Any, cos: Any, sin: Any) -> torch.Tensor:
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def _rotate_neighbours(x: Any, cos: Any, sin: Any) -> torch.Tensor:
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)


def _loss(smoothing: float, ignore_index: int) -> Callable[..., torch.Tensor]:
    def reference(logits: Any, target: Any) -> torch.Tensor:
        rows = logits.reshape(-1, logits.shape[-1])
        options = {"ignore_index": ignore_index, "label_smoothing": smoothing}
        losses = F.cross_entropy(rows, target.reshape(-1), reduction="none", **options)
        return losses.reshape(target.shape)

    return reference


ROWS = ("rows", 6)
ROW = ("fixed", 6)
STATE = ("fixed", 2)
TWO = {"x": ROWS, "y": ROWS}


def _norm_cases() -> list[Case]:
    cases = []
    for kind in ("rms", "layer"):
        full: dict[str, Any] = {"weight": ROW} if kind == "rms" else {"weight": ROW, "bias": ROW}
        for label, factors in (("", full), ("-plain", dict.fromkeys(full))):
            name = f"{kind}_norm"
            sums = {"x": ROWS, "residual": ROWS, **factors}
            plain = lambda x, kind=kind, **given: _norm(kind, x, **given)  # noqa: E731
            cases += [
                Case(name, {"x": ROWS, **factors}, plain, (EPS,), name + label),
                Case(f"skip_{name}", sums, _norm_of_sum(kind), (EPS,), f"skip_{name}{label}"),
                Case(
                    f"dropout_add_{name}",
                    {**sums, "random_state": STATE},
                    _norm_of_sum(kind),
                    (P, EPS),
                    f"dropout_add_{name}{label}",
                ),
            ]
    return cases


def _gelu_cases() -> list[Case]:
    cases = []
    for kind in ("none", "tanh"):
        options: dict[str, Any] = {"approximate": kind}
        gated = lambda x, y, o=options: F.gelu(x, **o) * y  # noqa: E731
        biased = lambda x, bias, o=options: F.gelu(x + bias, **o)  # noqa: E731
        cases += [
            Case("gelu_and_mul", TWO, gated, (kind,), f"gelu_and_mul-{kind}"),
            Case("geglu", {"x": ROWS}, _halves(F.gelu, **options), (kind,), f"geglu-{kind}"),
            Case("bias_gelu", {"x": ROWS, "bias": ROW}, biased, (kind,), f"bias_gelu-{kind}"),
        ]
    return cases


def _bias_cases() -> list[Case]:
    cases = []
    for label, bias in (("", ROW), ("-plain", None)):
        taken = {"x": ROWS, "residual": ROWS, "bias": bias}
        cases += [
            Case("bias_add", taken, _bias_dropout_add, name=f"bias_add{label}"),
            Case(
                "bias_dropout_add",
                {**taken, "random_state": STATE},
                _bias_dropout_add,
                (P,),
                f"bias_dropout_add{label}",
            ),
        ]
    return cases


def _loss_cases() -> list[Case]:
    taken = {"logits": ("rows", 7), "target": ("values",)}
    return [
        Case(
            "cross_entropy",
            taken,
            _loss(smoothing, ignored),
            (ignored, smoothing),
            f"cross_entropy-{smoothing}",
            classes=7,
        )
        # Class 3 is ignored, and then no class that there is.
        for smoothing, ignored in ((0.0, 3), (0.2, -100))
    ]


def _rotary_cases() -> list[Case]:
    taken = {"x": ("rows", 3, 4), "cos": ("rows", 1, 2), "sin": ("rows", 1, 2)}
    return [
        Case("rotary_embedding", taken, _rotate_half, (False,), "rotary_embedding-half"),
        Case("rotary_embedding", taken, _rotate_neighbours, (True,), "rotary_embedding-neighbours"),
    ]


CASES = [
    Case("silu_and_mul", TWO, lambda x, y: F.silu(x) * y),
    Case("relu_and_mul", TWO, lambda x, y: F.relu(x) * y),
    Case("swiglu", {"x": ROWS}, _halves(F.silu)),
    Case("reglu", {"x": ROWS}, _halves(F.relu)),
    Case("glu", {"x": ROWS}, _glu),
    *_gelu_cases(),
    *_norm_cases(),
    Case("l2_norm", {"x": ROWS}, lambda x: x / (x.square().sum(-1, True) + EPS).sqrt(), (EPS,)),
    *_bias_cases(),
    Case("dropout", {"x": ROWS, "random_state": STATE}, _dropout, (P,)),
    Case("softmax", {"x": ROWS}, lambda x: x.softmax(-1)),
    Case("log_softmax", {"x": ROWS}, lambda x: x.log_softmax(-1)),
    *_loss_cases(),
    *_rotary_cases(),
]
