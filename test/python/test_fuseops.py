# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python package: compile, run forward and backward, and what it refuses."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import fuseops
import numpy as np
import pytest
from fuseops.arrays import from_bf16, to_bf16

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = ROOT / "test" / "Fixtures" / "torch" / "blocks"

SQUARE = """
fuseops.fusible @square(%x: tensor<?x8xf32>, %i: tensor<4xi64>) -> tensor<?x8xf32>
forward {
  %y = fuseops.mul %x, %x : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  fuseops.return %y : tensor<?x8xf32>
}
"""

ADD = """
fuseops.fusible @add(%x: tensor<?x8xbf16>, %y: tensor<?x8xbf16>) -> tensor<?x8xbf16>
forward {
  %z = fuseops.add %x, %y : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
  fuseops.return %z : tensor<?x8xbf16>
}
"""

COUNTS = """
fuseops.fusible @counts(%m: tensor<?x8xi1>, %u: tensor<8xui8>) -> (tensor<?x8xi1>, tensor<?x8xui8>, tensor<?x1xi64>)
forward {
  %n, %w = fuseops.pointwise (%a = %m, %b = %u) : (tensor<?x8xi1>, tensor<8xui8>) -> (tensor<?x8xi1>, tensor<?x8xui8>) {
    %true = arith.constant true
    %not = arith.xori %a, %true : i1
    %one = arith.extui %a : i1 to i8
    %sum = arith.addi %b, %one : i8
    fuseops.yield %not, %sum : i1, i8
  }
  %c = fuseops.reduce_columns sum %m : tensor<?x8xi1> -> tensor<?x1xi64>
  fuseops.return %n, %w, %c : tensor<?x8xi1>, tensor<?x8xui8>, tensor<?x1xi64>
}
"""  # noqa: E501


@pytest.fixture(scope="module")
def square() -> fuseops.Program:
    return fuseops.compile_ir(SQUARE)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(os.urandom(4), "little"))


def test_describes_itself(square: fuseops.Program):
    assert square.name == "square"
    assert square.target == "cpu"
    assert square.arguments == (("arg0", "f32", (None, 8)), ("arg1", "i64", (4,)))
    assert square.report["entries"][0]["kernels"][0]["members"] == ["fuseops.mul"]


@pytest.mark.parametrize("rows", [0, 1, 7, 100])
def test_forward_and_backward(square: fuseops.Program, rng: np.random.Generator, rows: int):
    x = rng.standard_normal((rows, 8)).astype(np.float32)
    index = np.zeros(4, np.int64)
    (y,), context = square.forward(x, index)
    np.testing.assert_allclose(y, x * x, rtol=1e-6)
    dy = rng.standard_normal((rows, 8)).astype(np.float32)
    dx, none = context.backward(dy)
    assert none is None
    np.testing.assert_allclose(dx, 2 * x * dy, rtol=1e-6, atol=1e-7)


def test_integers_and_bools(rng: np.random.Generator):
    program = fuseops.compile_ir(COUNTS)
    # Any byte but 0 is true, and what comes back is 0 or 1.
    bytes_ = rng.integers(0, 3, (5, 8), np.uint8)
    mask, wraps = bytes_ != 0, np.full(8, 255, np.uint8)
    (inverted, sums, counts), _ = program.forward(bytes_.view(np.bool_), wraps)
    assert (inverted.dtype, sums.dtype, counts.dtype) == (np.bool_, np.uint8, np.int64)
    np.testing.assert_array_equal(inverted.view(np.uint8), ~mask)
    np.testing.assert_array_equal(sums, np.where(mask, 0, 255))
    np.testing.assert_array_equal(counts, mask.sum(axis=1, keepdims=True))


def test_call_gives_the_only_result(square: fuseops.Program):
    y = square(np.full((2, 8), 3, np.float32), np.zeros(4, np.int64))
    np.testing.assert_array_equal(y, np.full((2, 8), 9, np.float32))


def test_any_layout(square: fuseops.Program, rng: np.random.Generator):
    x = rng.standard_normal((8, 6)).astype(np.float32)
    index = np.zeros(4, np.int64)
    (y,), context = square.forward(x.T, index)
    np.testing.assert_allclose(y, x.T * x.T, rtol=1e-6)
    ones = np.broadcast_to(np.float32(1), (6, 8))
    np.testing.assert_allclose(context.backward(ones)[0], 2 * x.T, rtol=1e-6)
    wide = rng.standard_normal((18, 24)).astype(np.float32)
    for view in (wide[::3, 4:12], wide[17:5:-2, ::-3], wide[None, :1, :8][0]):
        np.testing.assert_allclose(square(view, index[::-1]), view * view, rtol=1e-6)


def test_a_view_of_odd_strides_is_refused(square: fuseops.Program):
    pairs = np.zeros((5, 8), np.dtype({"names": ["x"], "formats": ["f4"], "itemsize": 6}))
    with pytest.raises(fuseops.FuseOpsError, match=r"strides of `arg0` .* got \(48, 6\)"):
        square(pairs["x"], np.zeros(4, np.int64))


def test_gradient_that_is_the_incoming_one_is_not_copied(rng: np.random.Generator):
    program = fuseops.compile_ir(ADD)
    a, b = (to_bf16(rng.standard_normal((3, 8))) for _ in range(2))
    (z,), context = program.forward(a, b)
    np.testing.assert_array_equal(z, to_bf16(from_bf16(a) + from_bf16(b)))
    dz = to_bf16(rng.standard_normal((3, 8)))
    for gradient in context.backward(dz):
        assert np.shares_memory(gradient, dz)


def rms_norm(x: np.ndarray, gamma: np.ndarray, eps: float) -> np.ndarray:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * gamma


def test_llama_mlp_of_torch_mlir(rng: np.random.Generator):
    program = fuseops.compile_ir(BLOCKS / "llama_mlp_f32_dynamic.raw.mlir")
    shapes = [(5, 16, 64), (64,), (128, 64), (128, 64), (64, 128)]
    args = [rng.standard_normal(s).astype(np.float32) / 8 for s in shapes]
    x, gamma, gate, up, down = (a.astype(np.float64) for a in args)
    h = rms_norm(x, gamma, 1e-6)
    g = h @ gate.T
    expected = x + (g / (1 + np.exp(-g)) * (h @ up.T)) @ down.T
    results, context = program.forward(*args)
    np.testing.assert_allclose(results[0], expected, atol=1e-5)
    gradients = context.backward(np.ones((5, 16, 64), np.float32))
    assert [d.shape for d in gradients] == shapes


def test_save_and_load(square: fuseops.Program, tmp_path: Path):
    path = tmp_path / "square.fuseops"
    square.save(path)
    loaded = fuseops.Program.load(path)
    x = np.ones((2, 8), np.float32)
    np.testing.assert_array_equal(loaded(x, np.zeros(4, np.int64)), x)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    with pytest.raises(fuseops.FuseOpsError, match=r"altered|damaged|hash"):
        fuseops.Program(bytes(data))


def test_compile_error_names_place_and_reproducer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("FUSEOPS_REPRODUCER_PATH", str(tmp_path))
    with pytest.raises(fuseops.FuseOpsError, match=r"source:2:") as caught:
        fuseops.compile_ir("\nfuseops.fusible @f(%x: tensor<?xf32>) {}\n")
    error = caught.value
    assert "error: " in error.diagnostics
    assert error.reproducer.parent == tmp_path
    done = subprocess.run(error.command.split(), capture_output=True, text=True)
    assert done.returncode == 1
    assert "error: " in done.stderr
    # A failed compilation leaves the next one alone.
    assert fuseops.compile_ir(SQUARE).name == "square"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "tpu"}, "expected target"),
        ({"recipe": "fast"}, "expected recipe"),
        ({"entry": "other"}, "no `fuseops.fusible` is named `other`"),
    ],
)
def test_wrong_options(options: dict[str, str], message: str):
    with pytest.raises(fuseops.FuseOpsError, match=message):
        fuseops.compile_ir(SQUARE, **options)


def test_wrong_arguments(square: fuseops.Program):
    x, index = np.ones((2, 8), np.float32), np.zeros(4, np.int64)
    with pytest.raises(fuseops.FuseOpsError, match="expected 2 arguments, but got 1"):
        square(x)
    with pytest.raises(fuseops.FuseOpsError, match=r"dtype float32 for f32, but got float64"):
        square(x.astype(np.float64), index)
    with pytest.raises(fuseops.FuseOpsError, match="8"):
        square(np.ones((2, 9), np.float32), index)
    _, context = square.forward(x, index)
    with pytest.raises(fuseops.FuseOpsError, match="expected 1 result gradients, but got 0"):
        context.backward()


def test_emit():
    assert b"// Generated by LLVM NVPTX" in fuseops.emit(SQUARE, "ptx", target="cuda:sm_90a")
    assert b"fuseops.group" in fuseops.emit(SQUARE, "ir", compile_to="fusion")
    assert b'"target": "cpu"' in fuseops.emit(SQUARE, "report")
