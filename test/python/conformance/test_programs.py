# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What programs give besides numbers: aliases, missing gradients, roundings that stay."""

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from fuseops import emit

from conformance import check_gradient, runner, table
from conformance.case import Arg, Case, tensor


def test_incoming_gradient_as_result():
    """add's gradient is the incoming one, for both arguments: nothing is copied."""
    t = "tensor<?x8xf32>"
    text = f"""fuseops.fusible @main(%a: {t}, %b: {t}) -> {t} forward {{
      %r = fuseops.add %a, %b : {t}, {t} -> {t}
      fuseops.return %r : {t}
    }}"""
    program = runner.compile_ir(text)
    x = torch.ones(3, 8)
    _, saved = program.forward(x, x)
    dy = torch.full((3, 8), 2.0)
    for gradient in program.gradients([dy], saved):
        assert gradient.data_ptr() == dy.data_ptr()


def test_one_array_in_two_arguments():
    case = table.TABLE["program"]["bias gelu residual"].build(("M", 96), "f32")
    row = torch.linspace(-1, 1, 96)
    (y,), _ = runner.compile_ir(case.text()).forward(row.reshape(1, 96), row)
    (want,) = case.evaluate([row.double().reshape(1, 96), row.double()])
    torch.testing.assert_close(y.double(), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_missing_gradients_are_none(target: str):
    """What only a frozen result depends on has no gradient: not zeros, and not 0 * NaN."""
    t = tensor(("M", 8), "f32")
    body = f"%r0 = fuseops.silu %a0 : {t}\n%r1 = fuseops.mul %a0, %a1 : {t}, {t} -> {t}\n"
    args = [Arg(("M", 8), "f32"), Arg(("M", 8), "f32")]
    results = [(("M", 8), "f32")] * 2
    case = Case(args, results, body, lambda a, b: (F.silu(a), a * b), frozen=[1])
    program = runner.compile_ir(case.text(), target)
    _, saved = program.forward(torch.ones(3, 8), torch.full((3, 8), torch.nan))
    gradients = program.gradients([torch.ones(3, 8)], saved)
    assert gradients[1] is None
    assert gradients[0].isfinite().all()


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
    x = torch.linspace(1, 2, 8)
    (y,), _ = runner.compile_ir(text, target).forward(x)
    assert torch.equal(y.float(), x.bfloat16().float())


def test_silu_far_out():
    """At -100 silu is a denormal of f32."""
    case = table.TABLE["fuseops.silu"][""].build((3,), "f32")
    (y,), _ = runner.compile_ir(case.text()).forward(torch.full((3,), -100.0))
    want = -100 * torch.exp(torch.tensor(-100.0, dtype=torch.float64))
    torch.testing.assert_close(y.double(), want.expand(3), rtol=0.03, atol=0)


@pytest.mark.parametrize("op", ["add", "mul"])
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16", "f64"])
def test_arithmetic_is_ieee(op: str, dtype: str):
    """All pairs; no x * 0 -> 0, no flush to zero, overflow to inf by one rounding."""
    kind = runner.DTYPES[dtype]
    small, large = torch.finfo(kind).smallest_normal * torch.finfo(kind).eps, 6e4
    points = [torch.nan, torch.inf, -torch.inf, 0.0, -0.0, 1.5, -3.0]
    points += [small, -small * 3, large, -large]
    a, b = torch.cartesian_prod(*[torch.tensor(points, dtype=torch.float64).to(kind)] * 2).T
    case = table.TABLE[f"fuseops.{op}"]["same"].build((len(a),), dtype)
    (y,), _ = runner.compile_ir(case.text()).forward(a, b)
    inner = torch.float64 if dtype == "f64" else torch.float32
    want = getattr(torch, op)(a.to(inner), b.to(inner)).to(kind)
    torch.testing.assert_close(y, want, rtol=0, atol=0, equal_nan=True)
    zero = want == 0
    assert torch.equal(y.signbit()[zero], want.signbit()[zero])


def test_user_activation_against_finite_differences():
    text = (Path(__file__).parent / "user_activation.mlir").read_text()
    assert check_gradient.errors(text) == []
    wrong = emit(text, "ir", compile_to="differentiate").decode()
    assert check_gradient.errors(wrong) == []
    first, last = wrong.split("backward (", 1)
    assert check_gradient.errors(f"{first}backward ({last.replace('mulf', 'addf', 1)}")
