# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`fuseops.pointwise` bodies that a user writes: values, derived gradients, broadcasts."""

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import check_gradient
import numpy as np
import oracle
import pytest
import runner
from cases import Arg, Spec, check, tensor
from oracle import Array, Node, unary

HERE = Path(__file__).parent


def test_user_activation_against_finite_differences():
    found = check_gradient.errors((HERE / "user_activation.mlir").read_text(), 3, 0)
    assert set(found) == {"arg0", "arg1", "arg2"}
    assert max(found.values()) <= check_gradient.TOLERANCE, found


def test_check_gradient_command():
    command = [sys.executable, HERE / "check_gradient.py", HERE / "user_activation.mlir"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(": ok") == 3


# Name, range of the argument, function, derivative.
UNARY: list[tuple[str, tuple[float, float], Callable[[Array], Array], Callable[[Array], Array]]] = [
    ("exp", (-5, 5), np.exp, np.exp),
    ("exp2", (-5, 5), np.exp2, lambda x: np.exp2(x) * math.log(2)),
    ("expm1", (-5, 5), np.expm1, np.exp),
    ("log", (0.1, 9), np.log, lambda x: 1 / x),
    ("log2", (0.1, 9), np.log2, lambda x: 1 / (x * math.log(2))),
    ("log10", (0.1, 9), np.log10, lambda x: 1 / (x * math.log(10))),
    ("log1p", (-0.9, 9), np.log1p, lambda x: 1 / (1 + x)),
    ("sqrt", (0.1, 9), np.sqrt, lambda x: 0.5 / np.sqrt(x)),
    ("rsqrt", (0.1, 9), lambda x: x**-0.5, lambda x: -0.5 * x**-1.5),
    ("cbrt", (0.1, 9), np.cbrt, lambda x: 1 / (3 * np.cbrt(x) ** 2)),
    ("tanh", (-4, 4), np.tanh, lambda x: 1 / np.cosh(x) ** 2),
    ("sin", (-9, 9), np.sin, np.cos),
    ("cos", (-9, 9), np.cos, lambda x: -np.sin(x)),
    ("tan", (-1.2, 1.2), np.tan, lambda x: 1 / np.cos(x) ** 2),
    ("sinh", (-4, 4), np.sinh, np.cosh),
    ("cosh", (-4, 4), np.cosh, np.sinh),
    ("asin", (-0.9, 0.9), np.arcsin, lambda x: (1 - x * x) ** -0.5),
    ("acos", (-0.9, 0.9), np.arccos, lambda x: -((1 - x * x) ** -0.5)),
    ("atan", (-9, 9), np.arctan, lambda x: 1 / (1 + x * x)),
    ("asinh", (-9, 9), np.arcsinh, lambda x: (x * x + 1) ** -0.5),
    ("acosh", (1.2, 9), np.arccosh, lambda x: (x * x - 1) ** -0.5),
    ("atanh", (-0.9, 0.9), np.arctanh, lambda x: 1 / (1 - x * x)),
    (
        "erf",
        (-3, 3),
        oracle.erf_array,
        lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x),
    ),
    (
        "erfc",
        (-3, 3),
        oracle.erfc_array,
        lambda x: -2 / math.sqrt(math.pi) * np.exp(-x * x),
    ),
    ("absf", (-3, 3), np.abs, np.sign),
    ("floor", (-3, 3), np.floor, np.zeros_like),
    ("ceil", (-3, 3), np.ceil, np.zeros_like),
    ("roundeven", (-3, 3), np.round, np.zeros_like),
    ("trunc", (-3, 3), np.trunc, np.zeros_like),
]


@pytest.mark.parametrize("target", ["cpu", "reference"])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("item", UNARY, ids=[u[0] for u in UNARY])
def test_math(item: tuple[str, tuple[float, float], Callable, Callable], dtype: str, target: str):
    name, bounds, function, derivative = item
    shape = ("M", 33)
    t = tensor(shape, dtype)
    body = (
        f"%r0 = fuseops.pointwise (%x = %a0) : ({t}) -> {t} {{\n"
        f"  %y = math.{name} %x : {dtype}\n"
        f"  fuseops.yield %y : {dtype}\n}}"
    )

    def forward(x: Node) -> Node:
        return unary(x, function(x.value), lambda: derivative(x.value))

    # A constant of a derivative is an f32 number in an f32 program, in the reference as well.
    units = 64.0 if dtype == "f64" or target == "cpu" else 2.0**30
    spec = Spec([Arg(shape, dtype, range=bounds)], [(shape, dtype)], body, forward, units=units)
    if name in ("floor", "ceil", "roundeven", "trunc"):
        # No gradient reaches the argument.
        program = runner.compile_ir(spec.text(), target)
        x = spec.args[0].sample(np.random.default_rng(0), 9)
        (y,), saved = program.forward(x)
        np.testing.assert_array_equal(y, function(x.astype(np.float64)))
        (gradient,) = program.gradients([np.ones_like(y)], saved)
        assert gradient is None or not gradient.any()
        return
    failures = check(spec, target, (1, 40))
    assert not failures, "\n".join(failures)


def _two(op: str, value: Callable, partials: Callable) -> tuple[str, Callable]:
    return op, lambda a, b: oracle.binary(a, b, value, partials)


BINARY = [
    _two("arith.addf", np.add, lambda a, b: (1.0, 1.0)),
    _two("arith.subf", np.subtract, lambda a, b: (1.0, -1.0)),
    _two("arith.mulf", np.multiply, lambda a, b: (b, a)),
    _two("arith.divf", np.divide, lambda a, b: (1 / b, -a / b**2)),
    _two("arith.maximumf", np.maximum, lambda a, b: (a > b, b > a)),
    _two("arith.minimumf", np.minimum, lambda a, b: (a < b, b < a)),
    _two("arith.maxnumf", np.fmax, lambda a, b: (a > b, b > a)),
    _two("arith.minnumf", np.fmin, lambda a, b: (a < b, b < a)),
    _two("math.powf", np.power, lambda a, b: (b * a ** (b - 1), a**b * np.log(a))),
    _two(
        "math.atan2",
        np.arctan2,
        lambda a, b: (b / (a * a + b * b), -a / (a * a + b * b)),
    ),
    _two(
        "math.copysign",
        np.copysign,
        lambda a, b: (np.sign(a) * np.sign(b), np.zeros_like(a)),
    ),
]


@pytest.mark.parametrize("target", ["cpu", "reference"])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("item", BINARY, ids=[b[0] for b in BINARY])
def test_binary(item: tuple[str, Callable], dtype: str, target: str):
    op, forward = item
    shape = ("M", 33)
    t = tensor(shape, dtype)
    body = (
        f"%r0 = fuseops.pointwise (%x = %a0, %z = %a1) : ({t}, {t}) -> {t} {{\n"
        f"  %y = {op} %x, %z : {dtype}\n"
        f"  fuseops.yield %y : {dtype}\n}}"
    )
    bounds = (0.3, 3.0) if op == "math.powf" else (-3.0, 3.0)
    args = [Arg(shape, dtype, range=bounds), Arg(shape, dtype, range=(0.5, 3.0))]
    spec = Spec(args, [(shape, dtype)], body, forward, units=64.0)
    program = runner.compile_ir(spec.text(), target)
    if op == "math.copysign":
        arrays = [a.sample(np.random.default_rng(1), 9) for a in args]
        _, saved = program.forward(*arrays)
        gradients = program.gradients([np.ones(arrays[0].shape)], saved)
        assert gradients[1] is None or not gradients[1].any()
        np.testing.assert_array_equal(gradients[0], np.sign(arrays[0]) * np.sign(arrays[1]))
        return
    failures = check(spec, target, (1, 40))
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("target", ["cpu", "reference"])
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16", "f64"])
def test_broadcasts_and_several_results(dtype: str, target: str):
    """Operands of every broadcast, two results; f32 inside where the type is narrower."""
    inside = "f64" if dtype == "f64" else "f32"
    shapes = [("M", 40), (40,), ("M", 1), (), (1, 40)]
    args = [Arg(s, dtype, scale=0.5) for s in shapes]
    types = ", ".join(tensor(s, dtype) for s in shapes)
    t = tensor(("M", 40), dtype)
    operands = "%x = %a0, %row = %a1, %col = %a2, %one = %a3, %line = %a4"
    body = f"""%r0, %r1 = fuseops.pointwise ({operands}) : ({types}) -> ({t}, {t}) {{
      %p = arith.mulf %x, %row : {inside}
      %q = math.fma %p, %col, %one : {inside}
      %t = math.tanh %q : {inside}
      %c = arith.cmpf ogt, %q, %line : {inside}
      %s = arith.select %c, %t, %line : {inside}
      %n = arith.negf %q : {inside}
      %w = math.exp %n : {inside}
      fuseops.yield %s, %w : {inside}, {inside}
    }}"""

    def forward(x: Node, row: Node, col: Node, one: Node, line: Node) -> tuple[Node, Node]:
        q = x * row * col + one
        chosen = np.asarray(q.value > line.value, np.float64)
        return oracle.tanh(q) * chosen + line * (1.0 - chosen), oracle.exp(-q)

    spec = Spec(args, [(("M", 40), dtype)] * 2, body, forward, units=64.0)
    failures = check(spec, target, (0, 1, 7, 513))
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_rounding_in_a_body_stays(target: str):
    """f32 -> bf16 -> f32 in a body rounds, on every target."""
    t = tensor((8,), "f32")
    text = f"""fuseops.fusible @main(%a: {t}) -> {t} forward {{
      %r = fuseops.pointwise (%x = %a) : ({t}) -> {t} {{
        %n = arith.truncf %x : f32 to bf16
        %w = arith.extf %n : bf16 to f32
        fuseops.yield %w : f32
      }}
      fuseops.return %r : {t}
    }}"""
    x = np.linspace(1, 2, 8).astype(np.float32)
    (y,), _ = runner.compile_ir(text, target).forward(x)
    np.testing.assert_array_equal(
        y.astype(np.float32), x.astype(runner.DTYPES["bf16"]).astype(np.float32)
    )


@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_linear_index(target: str):
    t = tensor((2, "M", 5), "i64")
    text = f"""fuseops.fusible @main(%a: {t}) -> {t} forward {{
      %r = fuseops.pointwise (%x = %a) : ({t}) -> {t} {{
        %i = fuseops.linear_index : i64
        %s = arith.addi %x, %i : i64
        fuseops.yield %s : i64
      }}
      fuseops.return %r : {t}
    }}"""
    x = np.random.default_rng(0).integers(0, 99, (2, 7, 5))
    (y,), _ = runner.compile_ir(text, target).forward(x)
    np.testing.assert_array_equal(y, x + np.arange(70).reshape(2, 7, 5))
