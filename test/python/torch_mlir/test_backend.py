# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fuseops.torch_mlir through torch-mlir's own importer, and of text in both forms.

The fixtures' programs go through the same class in test/python/test_fixtures.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir.fx")

from fuseops import FuseOpsError  # noqa: E402
from fuseops.torch_mlir import FuseOpsBackend, export_and_import  # noqa: E402

F = torch.nn.functional
VECTOR = "!torch.vtensor<[4],f32>"


class Block(torch.nn.Module):
    """A norm and a GLU, whose parameters are literals of the module."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.norm = torch.nn.LayerNorm(32, dtype=dtype)
        self.gate = torch.nn.Linear(32, 48, dtype=dtype)
        self.up = torch.nn.Linear(32, 48, dtype=dtype)
        self.down = torch.nn.Linear(48, 32, bias=False, dtype=dtype)

    def forward(self, x: torch.Tensor) -> Any:
        h = self.norm(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Call(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def run(model: torch.nn.Module, *args: Any, given: tuple[Any, ...] = ()) -> Any:
    backend = FuseOpsBackend()
    module = export_and_import(model, *args)
    return backend.load(backend.compile(module)).main(*(given or args))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_block_is_eager(dtype: torch.dtype):
    model = Block(dtype).eval()
    x = torch.randn(3, 5, 32).to(dtype)
    with torch.no_grad():
        expected = model(x)
    got = run(model, x)
    assert got.dtype == dtype
    torch.testing.assert_close(
        got, expected, rtol=2e-2 if dtype == torch.bfloat16 else 1e-5, atol=1e-2
    )


def test_dynamic_batch_runs_at_any_size():
    model = Block(torch.float32).eval()
    batch = torch.export.Dim("batch", min=2, max=64)
    x = torch.randn(4, 5, 32)
    backend = FuseOpsBackend()
    module = export_and_import(model, x, dynamic_shapes=({0: batch},))
    invoker = backend.load(backend.compile(module))
    for size in (2, 7, 64):
        x = torch.randn(size, 5, 32)
        torch.testing.assert_close(invoker.main(x), model(x).detach(), rtol=1e-4, atol=1e-5)


def test_fp8_and_bf16_cross_as_torch_tensors():
    def function(a: torch.Tensor, b: torch.Tensor, s: torch.Tensor) -> Any:
        a8, b8 = a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn)
        return a8, torch._scaled_mm(a8, b8, s, s, out_dtype=torch.bfloat16)

    a, b, s = torch.randn(16, 32), torch.randn(16, 32).t(), torch.tensor(0.5)
    data, product = run(Call(function), a, b, s)
    assert data.dtype == torch.float8_e4m3fn
    assert product.dtype == torch.bfloat16
    expected = a.to(torch.float8_e4m3fn)
    assert torch.equal(data.view(torch.uint8), expected.view(torch.uint8))
    reference = 0.25 * expected.double() @ b.to(torch.float8_e4m3fn).double()
    torch.testing.assert_close(product.double(), reference, rtol=2.0**-8, atol=1e-6)


@pytest.mark.parametrize("format", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_fp8_conversions_overflow_as_pytorch_s(format: torch.dtype):
    x = torch.tensor([0.1, -448.0, 464.0, 465.0, 1e6, 61439.0, -61440.0, 65536.0])
    x = torch.cat([x, torch.tensor([float("inf"), float("nan")])])
    got = run(Call(lambda x: x.to(format).float()), x)
    torch.testing.assert_close(got, x.to(format).float(), rtol=0, atol=0, equal_nan=True)


def test_numpy_comes_back_as_numpy():
    got = run(Call(torch.relu), torch.randn(4, 8), given=(np.full((4, 8), -1.0, np.float32),))
    assert isinstance(got, np.ndarray)
    assert not got.any()


def test_numbers_and_none_cross_as_python_s():
    """One of each: tensor, int, float, bool, None."""
    results = run(Call(lambda x: (x + 1, 3, 0.5, True, None)), torch.zeros(2))
    assert torch.equal(results[0], torch.ones(2))
    assert results[1:] == (3, 0.5, True, None)
    assert [type(r) for r in results[1:4]] == [int, float, bool]


def test_number_arguments():
    text = f"""
    func.func @scale(%x: {VECTOR}, %n: !torch.int) -> {VECTOR} {{
      %0 = torch.aten.mul.Scalar %x, %n : {VECTOR}, !torch.int -> {VECTOR}
      return %0 : {VECTOR}
    }}"""
    backend = FuseOpsBackend()
    invoker = backend.load(backend.compile(text))
    assert torch.equal(invoker.scale(torch.ones(4), 3), torch.full((4,), 3.0))


def test_no_arguments_give_torch_tensors():
    got = run(Call(lambda: torch.full((2, 3), 1.5, dtype=torch.bfloat16)))
    assert torch.equal(got, torch.full((2, 3), 1.5, dtype=torch.bfloat16))


def test_pretty_and_generic_text_give_the_same():
    x = torch.randn(4, 32)
    module = export_and_import(Block(torch.float32).eval(), x)
    backend = FuseOpsBackend()
    results = [
        backend.load(backend.compile(text)).main(x)
        for text in (
            module.operation.get_asm(),
            module.operation.get_asm(print_generic_op_form=True),
            module.operation.get_asm(enable_debug_info=True),
        )
    ]
    assert all(torch.equal(result, results[0]) for result in results)


def test_module_that_upstream_s_verifier_refuses():
    """`F.scaled_mm` without a swizzle prints as generic text; FuseOps refuses it by name."""
    a = torch.randn(16, 32).to(torch.float8_e4m3fn)
    scaled_mm = getattr(F, "scaled_mm", None)
    if scaled_mm is None:
        pytest.skip("this torch has no scaled_mm")
    recipe = F.ScalingType.TensorWise

    def function(a: torch.Tensor, b: torch.Tensor, s: torch.Tensor) -> Any:
        return scaled_mm(a, b, s, recipe, s, recipe, output_dtype=torch.bfloat16)

    module = export_and_import(Call(function), a, a.t(), torch.ones(()))
    assert module.operation.get_asm().lstrip().startswith(("#", '"builtin.module"'))
    with pytest.raises(FuseOpsError, match="_scaled_mm_v2"):
        FuseOpsBackend().compile(module)


def test_many_masks_keep_their_values():
    """Upstream's importer confuses boolean literals whose temporary copies share an address."""
    torch.manual_seed(1)

    class Masks(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for index in range(64):
                self.register_buffer(f"mask{index}", torch.rand(16, 16) < 0.5)

        def forward(self, x: torch.Tensor) -> Any:
            return torch.stack([torch.where(mask, x, 0) for mask in self.buffers()])

    model, x = Masks(), torch.rand(16, 16) + 1
    assert torch.equal(run(model, x), model(x))


def test_new_values_of_written_arguments_come_first():
    def function(x: torch.Tensor, y: torch.Tensor) -> Any:
        x.add_(1)
        return x * y

    x, y = torch.ones(4), torch.full((4,), 3.0)
    written, result = run(Call(function), x.clone(), y)
    assert torch.equal(written, x + 1)
    assert torch.equal(result, (x + 1) * y)


def test_several_functions_and_private_ones():
    text = f"""
    module {{
      func.func @twice(%x: {VECTOR}) -> {VECTOR} {{
        %1 = torch.constant.int 1
        %0 = torch.aten.add.Tensor %x, %x, %1 : {VECTOR}, {VECTOR}, !torch.int -> {VECTOR}
        return %0 : {VECTOR}
      }}
      func.func @negated(%x: {VECTOR}) -> {VECTOR} {{
        %0 = torch.aten.neg %x : {VECTOR} -> {VECTOR}
        return %0 : {VECTOR}
      }}
    }}"""
    backend = FuseOpsBackend()
    invoker = backend.load(backend.compile(text))
    x = torch.arange(4.0)
    assert torch.equal(invoker.twice(x), 2 * x)
    assert torch.equal(invoker.negated(x), -x)
    with pytest.raises(AttributeError, match="`twice`, `negated`, but got `main`"):
        invoker.main(x)


def test_dropout_draws_from_torch_s_generator():
    x = torch.ones(64, 64)
    model = Call(lambda x: F.dropout(x, 0.25, training=True))
    backend = FuseOpsBackend()
    invoker = backend.load(backend.compile(export_and_import(model, x)))
    torch.manual_seed(5)
    first, second = invoker.main(x), invoker.main(x)
    torch.manual_seed(5)
    assert torch.equal(invoker.main(x), first)
    assert not torch.equal(first, second)
    assert 0.2 < (first == 0).float().mean() < 0.3
    state = torch.tensor([7, 0])
    assert torch.equal(invoker.main(x, state), invoker.main(x, state))


def test_errors_carry_diagnostics():
    module = export_and_import(Call(lambda x: torch.fft.fft(x).real), torch.randn(8))
    with pytest.raises(FuseOpsError, match=r"torch\.aten") as raised:
        FuseOpsBackend().compile(module)
    assert "test_backend.py" in raised.value.diagnostics


def test_wrong_calls_are_refused():
    backend = FuseOpsBackend()
    invoker = backend.load(backend.compile(export_and_import(Call(torch.relu), torch.randn(4))))
    with pytest.raises(FuseOpsError, match="expected 1 arguments of `main`, but got 2"):
        invoker.main(torch.randn(4), torch.randn(4))
    with pytest.raises(FuseOpsError, match="float64"):
        invoker.main(torch.randn(4).double())
    with pytest.raises(
        FuseOpsError, match="expected a module of torch_mlir or its text, but got int"
    ):
        backend.compile(3)
    with pytest.raises(FuseOpsError, match=r"public `func\.func`"):
        backend.compile("module {}")


def test_what_the_importer_refuses_is_our_error():
    model = Call(lambda x: x + torch.ones(4, dtype=torch.uint16).to(torch.float32))
    model.weight = torch.nn.Buffer(torch.ones(4, dtype=torch.uint16))
    model.function = lambda x: x + model.weight.to(torch.float32)
    with pytest.raises(FuseOpsError, match="torch-mlir cannot import"):
        export_and_import(model, torch.ones(4))


def test_example_runs():
    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, str(root / "examples" / "torch_mlir_backend.py")]
    environment = {**os.environ, "PYTHONPATH": str(root / "python")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "torch.aten.rms_norm" in done.stdout
    assert "fuseops.silu, fuseops.mul" in done.stdout
    assert "batch 500: largest difference" in done.stdout
