# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NaN, infinities, zeros, denormals and large numbers as PyTorch treats them, and the tails.

Written down from PyTorch's formulas, not from a run of it: relu(NaN) = NaN, silu(-inf) = NaN
(-inf * 0), gelu(-inf) = NaN in both forms, the gradients of silu and gelu are NaN at both
infinities, relu's gradient lets NaN inputs through, sums and maxima propagate NaN. Where we differ:
a dropped inf is 0 (PyTorch multiplies by the mask and gets NaN), and silu below -88 is a small
number in f32, not -0.
"""

from collections.abc import Callable

import numpy as np
import oracle
import pytest
import runner
from cases import Arg, Spec, tensor
from oracle import Array, Node
from table import TABLE

NAN, INF = np.nan, np.inf
TINY = 2.0**-130  # a denormal of f32 and bf16
INPUTS = [NAN, INF, -INF, 0.0, -0.0, TINY, -TINY, 1e15, -1e15]
H, Z = TINY / 2, 0.0
UNARY = {
    "relu": ([NAN, INF, Z, Z, Z, TINY, Z, 1e15, Z], [1, 1, 0, 0, 0, 1, 0, 1, 0]),
    "silu": (
        [NAN, INF, NAN, 0.0, -0.0, H, -H, 1e15, -0.0],
        [NAN, NAN, NAN, 0.5, 0.5, 0.5, 0.5, 1, 0],
    ),
}
UNARY["gelu"] = UNARY["gelu_tanh"] = UNARY["silu"]


def unary_program(name: str, count: int, dtype: str, target: str = "cpu") -> runner.Checked:
    """One operation on a vector."""
    return runner.compile_ir(TABLE[name]((), count, dtype).text(), target)


@pytest.mark.parametrize("target", ["cpu", "reference"])
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f64"])
@pytest.mark.parametrize("name", UNARY)
def test_special_values(name: str, dtype: str, target: str):
    program = unary_program(name, len(INPUTS), dtype, target)
    x = np.array(INPUTS).astype(runner.DTYPES[dtype])
    (y,), saved = program.forward(x)
    (gradient,) = program.gradients([np.ones(x.shape)], saved)
    values, slopes = UNARY[name]
    large = [v if not v or abs(v) != 1e15 else float(x[7]) * np.sign(v) for v in values]
    np.testing.assert_array_equal(y.astype(np.float64), large)
    np.testing.assert_array_equal(gradient.astype(np.float64), slopes)
    if name != "relu":
        signs = np.signbit(y.astype(np.float64))[[3, 4, 8]]
        np.testing.assert_array_equal(signs, [False, True, True])


@pytest.mark.parametrize("op", ["add", "mul"])
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16", "f64"])
def test_arithmetic_is_ieee(op: str, dtype: str):
    """All pairs; no x * 0 -> 0, no flush to zero, overflow to inf by one rounding."""
    kind = runner.DTYPES[dtype]
    points = [NAN, INF, -INF, 0.0, -0.0, 1.5, -3.0]
    small, large = np.finfo(kind).smallest_subnormal if dtype != "bf16" else 2.0**-133, 6e4
    points += [float(small), -float(small) * 3, large, -large]
    a, b = (m.ravel().astype(kind) for m in np.meshgrid(points, points))
    program = runner.compile_ir(TABLE[f"{op}_same"]((), a.size, dtype).text())
    (y,), _ = program.forward(a, b)
    with np.errstate(all="ignore"):
        inner = np.float64 if dtype == "f64" else np.float32
        left, right = a.astype(inner), b.astype(inner)
        want = (left + right if op == "add" else left * right).astype(kind)
    np.testing.assert_array_equal(y.astype(np.float64), want.astype(np.float64))


@pytest.mark.parametrize("name", ["scale", "bias", "cast_f32", "slice_columns", "concat_columns"])
def test_passes_special_values_on(name: str):
    spec = TABLE[name]((), 8, "f32")
    arrays = [
        np.resize([NAN, INF, -INF, -0.0, TINY, 1.0], a.shape).astype(np.float32) for a in spec.args
    ]
    with np.errstate(all="ignore"):
        want = spec.oracle(*[Node(a) for a in arrays]).value.astype(np.float32)
    (y,), _ = runner.compile_ir(spec.text()).forward(*arrays)
    np.testing.assert_array_equal(y, want)
    np.testing.assert_array_equal(np.signbit(y), np.signbit(want))


ROWS = np.array(
    [
        [1.0, NAN, 2.0, 3.0, 0.0],
        [1.0, INF, 2.0, 3.0, 0.0],
        [1.0, -INF, INF, 3.0, 0.0],
        [0.0, -0.0, 0.0, 0.0, 0.0],
        [TINY, -TINY, TINY, TINY, TINY],
        [-INF, -INF, -INF, -INF, -INF],
        [4.0, 5.0, 6.0, 7.0, 8.0],
    ],
    np.float32,
)


@pytest.mark.parametrize(
    "name",
    [
        "reduce_rows_sum",
        "reduce_rows_max",
        "reduce_columns_sum",
        "reduce_columns_max",
        "layer_norm_gamma_beta",
        "rms_norm_gamma",
        "rms_norm",
        "amax",
    ],
)
def test_rows_with_special_values(name: str):
    """A row's NaN or inf reaches what depends on that row, and nothing else."""
    for rows in (ROWS, ROWS[3:], ROWS[6:]):
        spec = TABLE[name](("M",), 5, "f32")
        rest = [np.linspace(0.5, 1.5, 5, dtype=np.float32)] * (len(spec.args) - 1)
        with np.errstate(all="ignore"):
            want = spec.oracle(*[Node(a) for a in (rows, *rest)])
        want = [want] if isinstance(want, Node) else want
        got, _ = runner.compile_ir(spec.text()).forward(rows, *rest)
        for g, w in zip(got, want, strict=True):
            np.testing.assert_allclose(g, w.value, rtol=1e-6, atol=1e-38)


def test_norm_gradients_of_special_rows():
    for name in ("layer_norm_gamma", "rms_norm_gamma"):
        spec = TABLE[name](("M",), 5, "f32")
        gamma = np.linspace(0.5, 1.5, 5, dtype=np.float32)
        program = runner.compile_ir(spec.text())
        _, saved = program.forward(ROWS, gamma)
        dx, dgamma = program.gradients([np.ones(ROWS.shape)], saved)
        assert np.isnan(dx[0]).all()
        assert np.isfinite(dx[[3, 4, 6]]).all()
        assert np.isnan(dgamma[1])


def _relative(got: Array, want: Array) -> float:
    return float(np.max(np.abs(got.astype(np.float64) - want) / np.abs(want)))


Tail = tuple[str, str, Callable[[Node], Node], float, float, float]
TAILS: list[Tail] = [
    # Operation, dtype, formula, from, to, relative tolerance of value and gradient.
    ("gelu", "f32", oracle.gelu, -12.0, -5.0, 1e-5),
    ("gelu", "f64", oracle.gelu, -12.0, -5.0, 1e-13),
    ("gelu_tanh", "f32", oracle.gelu_tanh, -9.3, -5.0, 2e-5),
    ("gelu_tanh", "f64", oracle.gelu_tanh, -9.3, -5.0, 1e-13),
    ("silu", "f32", oracle.silu, -87.0, -5.0, 1e-6),
    ("silu", "f32", oracle.silu, -91.0, -87.0, 1e-5),
    ("silu", "f64", oracle.silu, -700.0, -5.0, 1e-14),
]


@pytest.mark.parametrize("tail", TAILS, ids=[f"{t[0]}-{t[1]}-{t[3]:g}" for t in TAILS])
def test_tails(tail: Tail):
    """Exact in relative terms where the value is tiny."""
    name, dtype, formula, low, high, tolerance = tail
    x = np.linspace(low, high, 20001).astype(runner.DTYPES[dtype])
    program = unary_program(name, x.size, dtype)
    (y,), saved = program.forward(x)
    (gradient,) = program.gradients([np.ones(x.shape)], saved)
    argument = Node(x)
    want = formula(argument)
    (slope,) = oracle.gradients([want], [np.ones(x.shape)], [argument])
    assert _relative(y, want.value) <= tolerance
    assert _relative(gradient, slope) <= tolerance


def test_silu_far_out():
    """At -100 silu is a denormal of f32."""
    x = np.full(3, -100.0, np.float32)
    (y,), _ = unary_program("silu", 3, "f32").forward(x)
    np.testing.assert_allclose(y, -100.0 * np.exp(-100.0), rtol=0.03)


@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_missing_gradients_are_none(target: str):
    """What only a frozen result depends on has no gradient: not zeros, and not 0 * NaN."""
    t = tensor(("M", 8), "f32")
    body = f"%r0 = fuseops.silu %a0 : {t}\n%r1 = fuseops.mul %a0, %a1 : {t}, {t} -> {t}\n"
    args = [Arg(("M", 8), "f32"), Arg(("M", 8), "f32")]
    results = [(("M", 8), "f32")] * 2
    spec = Spec(args, results, body, lambda a, b: (oracle.silu(a), a * b), frozen=[1])
    x = np.full((3, 8), NAN, np.float32)
    program = runner.compile_ir(spec.text(), target)
    _, saved = program.forward(np.ones((3, 8)), x)
    gradients = program.gradients([np.ones((3, 8))], saved)
    assert gradients[1] is None
    assert np.isfinite(gradients[0]).all()
