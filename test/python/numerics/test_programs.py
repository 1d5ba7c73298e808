# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of several operations: fused chains, applies, values used twice, gradients that add."""

from collections.abc import Callable

import numpy as np
import oracle
import pytest
import runner
from cases import Arg, Spec, check, tensor
from oracle import Node

Build = Callable[[str], Spec]
PROGRAMS: dict[str, Build] = {}
N, K = 96, 40


def program(build: Build) -> Build:
    """Puts a function from dtype to Spec into PROGRAMS."""
    PROGRAMS[build.__name__] = build
    return build


@program
def bias_gelu_residual(dtype: str) -> Spec:
    t, row = tensor(("M", N), dtype), tensor((N,), dtype)
    body = f"""%z = fuseops.bias %a0, %a1 : {t}, {row}
      %g = fuseops.gelu %z approximate(tanh) : {t}
      %r0 = fuseops.add %g, %a0 : {t}, {t} -> {t}"""
    args = [Arg(("M", N), dtype), Arg((N,), dtype)]
    return Spec(
        args,
        [(("M", N), dtype)],
        body,
        lambda x, b: oracle.gelu_tanh(x + b) + x,
        roundings=3,
        units=64.0,
    )


@program
def norm_linear_swiglu(dtype: str) -> Spec:
    """The first half of a Llama MLP, gate and up packed, with the residual as a second result."""
    stats = "f64" if dtype == "f64" else "f32"
    args = [
        Arg(("M", K), dtype),
        Arg(("M", K), dtype),
        Arg((K,), dtype, scale=0.1, offset=1.0),
        Arg((2 * N, K), dtype, scale=K**-0.5),
    ]
    x, g, w = tensor(("M", K), dtype), tensor((K,), dtype), tensor((2 * N, K), dtype)
    wide, half = tensor(("M", 2 * N), dtype), tensor(("M", N), dtype)
    s = tensor(("M", 1), stats)
    body = f"""%r1 = fuseops.add %a0, %a1 : {x}, {x} -> {x}
      %n, %s = fuseops.rms_norm %r1 gamma(%a2) eps(1.0e-5) : ({x}, {g}) -> ({x}, {s})
      %h = fuseops.linear %n, %a3 : ({x}, {w}) -> {wide}
      %r0 = fuseops.swiglu %h activation(first) : {wide} -> {half}"""

    def forward(x: Node, r: Node, g: Node, w: Node) -> tuple[Node, Node]:
        total = x + r
        normed, _ = oracle.rms_norm(total, g, 1e-5, False)
        h = oracle.matmul(normed, oracle.transpose(w))
        return oracle.silu(oracle.columns(h, 0, N)) * oracle.columns(h, N, N), total

    results = [(("M", N), dtype), (("M", K), dtype)]
    return Spec(args, results, body, forward, roundings=8, units=128.0, terms=2 * N)


@program
def linear_gelu_linear_norm(dtype: str) -> Spec:
    """A GPT MLP with its norm after it, rank 3."""
    stats = "f64" if dtype == "f64" else "f32"
    shape, wide = (2, "M", K), (2, "M", N)
    args = [
        Arg(shape, dtype),
        Arg((N, K), dtype, scale=K**-0.5),
        Arg((N,), dtype, scale=0.1),
        Arg((K, N), dtype, scale=N**-0.5),
        Arg((K,), dtype, scale=0.1),
        Arg((K,), dtype, scale=0.1, offset=1.0),
        Arg((K,), dtype, scale=0.1),
    ]
    t = [tensor(a.shape, dtype) for a in args]
    h, s = tensor(wide, dtype), tensor((2, "M", 1), stats)
    norm = f"({t[0]}, {t[5]}, {t[6]}) -> ({t[0]}, {s}, {s})"
    body = f"""%h = fuseops.linear %a0, %a1 bias(%a2) : ({t[0]}, {t[1]}, {t[2]}) -> {h}
      %g = fuseops.gelu %h approximate(none) : {h}
      %o = fuseops.linear %g, %a3 bias(%a4) : ({h}, {t[3]}, {t[4]}) -> {t[0]}
      %d = fuseops.add %o, %a0 : {t[0]}, {t[0]} -> {t[0]}
      %r0, %mean, %rstd = fuseops.layer_norm %d gamma(%a5) beta(%a6) eps(1.0e-5) : {norm}"""

    def forward(x: Node, *rest: Node) -> Node:
        w1, b1, w2, b2, g, b = rest
        rows = oracle.reshape(x, (int(np.prod(x.shape[:-1])), K))
        h = oracle.gelu(oracle.matmul(rows, oracle.transpose(w1)) + b1)
        o = oracle.matmul(h, oracle.transpose(w2)) + b2
        total = oracle.reshape(o, x.shape) + x
        return oracle.layer_norm(total, g, b, 1e-5, False)[0]

    results = [(shape, dtype)]
    return Spec(args, results, body, forward, roundings=10, units=256.0, terms=N)


@program
def used_four_times(dtype: str) -> Spec:
    """One value in a row reduction, a product, a slice and a result."""
    stats = "f64" if dtype == "f64" else "f32"
    t, half = tensor(("M", N), dtype), tensor(("M", N // 2), dtype)
    column = tensor(("M", 1), stats)
    body = f"""%r0 = fuseops.silu %a0 : {t}
      %s = fuseops.reduce_columns sum %r0 : {t} -> {column}
      %m = fuseops.scale %s by(0.01) : {column}
      %r1 = fuseops.mul %r0, %m : {t}, {column} -> {t}
      %r2 = fuseops.slice %r0 dim(1) offset({N // 2}) : {t} -> {half}"""

    def forward(x: Node) -> tuple[Node, Node, Node]:
        y = oracle.silu(x)
        mean = oracle.total(y, (1,), keepdims=True) * 0.01
        return y, y * mean, oracle.columns(y, N // 2, N // 2)

    results = [(("M", N), dtype)] * 2 + [(("M", N // 2), dtype)]
    return Spec([Arg(("M", N), dtype)], results, body, forward, roundings=5, units=64.0)


@program
def applies(dtype: str) -> Spec:
    """A fusible applied twice, through another one, with a pointwise body."""
    inside = "f64" if dtype == "f64" else "f32"
    t = tensor(("M", N), dtype)
    callees = f"""
    fuseops.fusible @activation(%x: {t}, %g: {t}) -> ({t}, {t})
    attributes {{sym_visibility = "private"}}
    forward {{
      %y = fuseops.pointwise (%a = %x) : ({t}) -> {t} {{
        %e = math.tanh %a : {inside}
        %q = arith.mulf %a, %e : {inside}
        fuseops.yield %q : {inside}
      }}
      %z = fuseops.mul %y, %g : {t}, {t} -> {t}
      fuseops.return %z, %y : {t}, {t}
    }}
    fuseops.fusible @outer(%x: {t}, %g: {t}) -> {t} attributes {{sym_visibility = "private"}}
    forward {{
      %z, %y = fuseops.apply @activation(%x, %g) : ({t}, {t}) -> ({t}, {t})
      %w = fuseops.apply @relu(%z) : ({t}) -> {t}
      %s = fuseops.add %w, %y : {t}, {t} -> {t}
      fuseops.return %s : {t}
    }}
    fuseops.fusible @relu(%x: {t}) -> {t} attributes {{sym_visibility = "private"}}
    forward {{
      %y = fuseops.relu %x : {t}
      fuseops.return %y : {t}
    }}"""
    body = f"""%u = fuseops.apply @outer(%a0, %a1) : ({t}, {t}) -> {t}
      %v, %unused = fuseops.apply @activation(%u, %a1) : ({t}, {t}) -> ({t}, {t})
      %r0 = fuseops.add %v, %a0 : {t}, {t} -> {t}"""

    def forward(x: Node, g: Node) -> Node:
        y = x * oracle.tanh(x)
        u = oracle.relu(y * g) + y
        return u * oracle.tanh(u) * g + x

    args = [Arg(("M", N), dtype), Arg(("M", N), dtype)]
    return Spec(
        args, [(("M", N), dtype)], body, forward, roundings=10, units=256.0, callees=callees
    )


@program
def backward_by_hand(dtype: str) -> Spec:
    """A callee's own backward stands for its gradient: here it is half of the true one."""
    t = tensor(("M", N), dtype)
    callees = f"""
    fuseops.fusible @twice(%x: {t}) -> {t} attributes {{sym_visibility = "private"}}
    forward {{
      %y = fuseops.scale %x by(2.0) : {t}
      fuseops.return %y save(%x) : {t}, {t}
    }}
    backward (%dy: {t}, saved %x: {t}) {{
      %dx = fuseops.silu_grad %dy, %x : {t}
      fuseops.return %dx : {t}
    }}"""
    body = f"""%u = fuseops.apply @twice(%a0) : ({t}) -> {t}
      %r0 = fuseops.scale %u by(4.0) : {t}"""

    def forward(x: Node) -> Node:
        slope = oracle.gradients([oracle.silu(x)], [np.ones(x.shape)], [x])[0]
        return Node(x.value * 8.0, [(x, lambda g: 4.0 * g * slope)])

    return Spec(
        [Arg(("M", N), dtype)], [(("M", N), dtype)], body, forward, roundings=2, callees=callees
    )


@pytest.mark.parametrize("target", ["cpu", "reference"])
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16", "f64"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str, dtype: str, target: str):
    failures = check(PROGRAMS[name](dtype), target, (0, 1, 7, 513))
    assert not failures, "\n".join(failures)


def test_incoming_gradient_as_result():
    """add's gradient is the incoming one, for both arguments: nothing is copied."""
    t = "tensor<?x8xf32>"
    text = f"""fuseops.fusible @main(%a: {t}, %b: {t}) -> {t} forward {{
      %r = fuseops.add %a, %b : {t}, {t} -> {t}
      fuseops.return %r : {t}
    }}"""
    compiled = runner.compile_ir(text)
    x = np.ones((3, 8), np.float32)
    _, saved = compiled.forward(x, x)
    dy = np.full((3, 8), 2.0, np.float32)
    gradients = compiled.gradients([dy], saved)
    for gradient in gradients:
        assert np.shares_memory(gradient, dy)


def test_one_array_in_two_arguments():
    spec = PROGRAMS["bias_gelu_residual"]("f32")
    compiled = runner.compile_ir(spec.text())
    row = np.linspace(-1, 1, N, dtype=np.float32)
    (y,), _ = compiled.forward(row.reshape(1, N), row)
    want = oracle.gelu_tanh(Node(2.0 * row)).value + row
    np.testing.assert_allclose(y[0], want, rtol=1e-5, atol=1e-6)
