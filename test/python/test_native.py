# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The native call (lib/Python): which tensors it takes, what it gives back, and what it costs."""

from __future__ import annotations

import gc
import json
import os
import resource
import shutil
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fuseops
import numpy as np
import pytest
from fuseops.program import Program

torch = pytest.importorskip("torch")
if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
    pytest.skip("needs PyTorch 2.10", allow_module_level=True)

# 2x + b, with an own gradient for b and one for x.
SCALE = """
fuseops.fusible @scale(%x: tensor<?x8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32>
forward {
  %y = fuseops.mul %x, %x : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %z = fuseops.bias %y, %b : tensor<?x8xf32>, tensor<8xf32>
  fuseops.return %z : tensor<?x8xf32>
}
"""

SCALAR = """
fuseops.fusible @scalar(%x: tensor<?x8xf32>, %s: tensor<f32>) -> tensor<?x8xf32>
forward {
  %y = fuseops.mul %x, %s : tensor<?x8xf32>, tensor<f32> -> tensor<?x8xf32>
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

# The gradient of a reshape is the incoming one in another shape.
RESHAPE = """
fuseops.fusible @reshape(%x: tensor<2x4xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
forward {
  %z = fuseops.reshape %x : tensor<2x4xf32> -> tensor<8xf32>
  %w = fuseops.add %y, %y : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  fuseops.return %z, %w : tensor<8xf32>, tensor<8xf32>
}
"""

TYPES = """
fuseops.fusible @types(%m: tensor<?x8xi1>, %u: tensor<8xui8>, %i: tensor<?x8xi64>) -> (tensor<?x8xi1>, tensor<?x8xui8>, tensor<?x8xi64>)
forward {
  %n, %w, %j = fuseops.pointwise (%a = %m, %b = %u, %c = %i) : (tensor<?x8xi1>, tensor<8xui8>, tensor<?x8xi64>) -> (tensor<?x8xi1>, tensor<?x8xui8>, tensor<?x8xi64>) {
    %true = arith.constant true
    %not = arith.xori %a, %true : i1
    %one = arith.extui %a : i1 to i8
    %sum = arith.addi %b, %one : i8
    %two = arith.addi %c, %c : i64
    fuseops.yield %not, %sum, %two : i1, i8, i64
  }
  fuseops.return %n, %w, %j : tensor<?x8xi1>, tensor<?x8xui8>, tensor<?x8xi64>
}
"""  # noqa: E501

FP8 = """
fuseops.fusible @fp8(%x: tensor<?x8xf8E4M3FN>, %y: tensor<8xf8E5M2>) -> (tensor<?x8xf8E4M3FN>, tensor<8xf8E5M2>)
forward {
  %z, %w = fuseops.pointwise (%a = %x, %b = %y) : (tensor<?x8xf8E4M3FN>, tensor<8xf8E5M2>) -> (tensor<?x8xf8E4M3FN>, tensor<?x8xf8E5M2>) {
    fuseops.yield %a, %b : f32, f32
  }
  fuseops.return %z, %y : tensor<?x8xf8E4M3FN>, tensor<8xf8E5M2>
}
"""  # noqa: E501


DEVICES = ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)


@pytest.fixture(scope="module", autouse=True, params=DEVICES)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """Where tensors are made, and the target."""
    torch.set_default_device(request.param)
    yield request.param
    torch.set_default_device(None)


@pytest.fixture(scope="module")
def scale(device: str) -> Program:
    return fuseops.compile_ir(SCALE, target=device)


@pytest.fixture
def cpu(device: str) -> None:
    """For what is the same on every device."""
    if device != "cpu":
        pytest.skip("needs no other device")


@pytest.fixture
def only_native(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails a test in which a call goes another way."""

    def refuse(*arguments: Any) -> Any:
        raise AssertionError("the native call did not take these tensors")

    monkeypatch.setattr(Program, "_run", refuse)


@pytest.fixture
def other_calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The calls that did not go the native way."""
    calls = []
    run = Program._run

    def count(self: Program, *arguments: Any) -> Any:
        calls.append(arguments)
        return run(self, *arguments)

    monkeypatch.setattr(Program, "_run", count)
    return calls


def check_scale(program: Program, x: torch.Tensor, b: torch.Tensor) -> None:
    z, *saved = program.run_forward((x, b))
    assert not z.requires_grad
    assert z.is_contiguous()
    torch.testing.assert_close(z, (x * x + b).detach())
    dz = torch.randn(z.shape)
    dx, db = program.run_backward((dz, *saved))
    torch.testing.assert_close(dx, (2 * x * dz).detach())
    torch.testing.assert_close(db, dz.sum(0))


@pytest.mark.usefixtures("only_native")
@pytest.mark.parametrize("rows", [0, 1, 7, 300])
def test_forward_and_backward(scale: Program, rows: int):
    check_scale(scale, torch.randn(rows, 8), torch.randn(8))


@pytest.mark.usefixtures("only_native")
def test_requires_grad_and_parameters(scale: Program):
    check_scale(scale, torch.randn(3, 8, requires_grad=True), torch.nn.Parameter(torch.randn(8)))


@pytest.mark.usefixtures("only_native")
def test_inference_mode(scale: Program):
    with torch.inference_mode():
        check_scale(scale, torch.randn(3, 8), torch.randn(8))


@pytest.mark.usefixtures("only_native")
@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[:8, :5].T,
        lambda x: x[::3, 4:12],
        lambda x: x[0, 0].expand(4, 8),
        lambda x: x[1:2, :8].expand(6, 8),
        # Begins 4 bytes behind the storage, and 4 bytes behind an aligned address.
        lambda x: x.flatten()[1:33].view(4, 8),
        lambda x: x[:1, ::3],
    ],
)
def test_strided_inputs(scale: Program, view: Callable[[Any], Any]):
    x = view(torch.randn(24, 24))
    check_scale(scale, x, torch.randn(16)[::2])


@pytest.mark.usefixtures("only_native")
def test_scalar_inputs(device: str):
    program = fuseops.compile_ir(SCALAR, target=device)
    x, s = torch.randn(5, 8), torch.tensor(3.0)
    y, *saved = program.run_forward([x, s])
    torch.testing.assert_close(y, 3 * x)
    _, ds = program.run_backward([torch.ones(5, 8), *saved])
    assert ds.shape == ()
    torch.testing.assert_close(ds, x.sum())


@pytest.mark.usefixtures("only_native")
def test_integers_and_bools(device: str):
    program = fuseops.compile_ir(TYPES, target=device)
    m, u, i = torch.rand(3, 8) < 0.5, torch.full((8,), 255, dtype=torch.uint8), torch.arange(24)
    i = i.reshape(3, 8) << 40
    n, w, j, *_ = program.run_forward((m, u, i))
    assert torch.equal(n, ~m)
    assert torch.equal(w, u + m)
    assert torch.equal(j, 2 * i)


@pytest.mark.usefixtures("only_native")
def test_fp8_and_bf16(device: str):
    program = fuseops.compile_ir(FP8, target=device)
    x, y = torch.randn(3, 8).to(torch.float8_e4m3fn), torch.randn(8).to(torch.float8_e5m2)
    z, w, *_ = program.run_forward((x, y))
    assert z.dtype == torch.float8_e4m3fn
    assert torch.equal(z.view(torch.uint8), x.view(torch.uint8))
    assert w is y
    program = fuseops.compile_ir(ADD, target=device)
    a, b = torch.randn(3, 8).bfloat16(), torch.randn(3, 8).bfloat16()
    assert torch.equal(program.run_forward((a, b))[0], a + b)


@pytest.mark.usefixtures("only_native")
def test_an_output_that_is_an_input_is_the_same_object(device: str):
    program = fuseops.compile_ir(ADD, target=device)
    dz = torch.randn(3, 8).bfloat16().T.contiguous().T
    assert [d is dz for d in program.run_backward((dz,))] == [True, True]
    program = fuseops.compile_ir(RESHAPE, target=device)
    x, y = torch.randn(2, 4), torch.randn(8)
    z, _ = program.run_forward((x, y))
    assert z.shape == (8,)
    assert z.data_ptr() == x.data_ptr()


@pytest.mark.usefixtures("cpu")
def test_numpy_aliases_are_the_same_object():
    program = fuseops.compile_ir(ADD)
    dz = np.zeros((3, 8), np.uint16)
    assert [d is dz for d in program.run_backward((dz,))] == [True, True]


def test_a_gradient_that_is_none(device: str):
    # No result depends on %i.
    text = SCALE.replace("%b: tensor<8xf32>)", "%b: tensor<8xf32>, %i: tensor<4xi64>)")
    program = fuseops.compile_ir(text, target=device)
    x, b, i = torch.randn(2, 8), torch.randn(8), torch.zeros(4, dtype=torch.int64)
    _, *saved = program.run_forward((x, b, i))
    assert program.run_backward((torch.randn(2, 8), *saved))[2] is None


def test_lazy_negation_is_resolved(scale: Program, other_calls: list[Any]):
    x = torch.randn(3, 8, dtype=torch.complex64).conj().imag
    assert x.is_neg()
    check_scale(scale, x, torch._neg_view(torch.randn(8)))
    assert len(other_calls) == 1


@pytest.mark.usefixtures("cpu")
def test_numpy_and_mixed_arrays(scale: Program, other_calls: list[Any]):
    x, b = torch.randn(3, 8), torch.randn(8)
    expected = x * x + b
    z, *_ = scale.run_forward((x.numpy(), b.numpy()))
    assert isinstance(z, np.ndarray)
    np.testing.assert_allclose(z, expected.numpy(), rtol=1e-6)
    z, *_ = scale.run_forward((x, b.numpy()))
    torch.testing.assert_close(z, expected)
    assert len(other_calls) == 2


def test_cupy_arrays(device: str):
    if device != "cuda":
        pytest.skip("needs a GPU")
    cupy = pytest.importorskip("cupy")
    program = fuseops.compile_ir(SCALE, target="cuda")
    x, b = cupy.random.randn(3, 8).astype("f4"), cupy.random.randn(16).astype("f4")[::2]
    z, *_ = program.run_forward((x, b))
    assert isinstance(z, cupy.ndarray)
    cupy.testing.assert_allclose(z, x * x + b, rtol=1e-6)


@pytest.mark.usefixtures("cpu")
def test_cupy_arrays_are_on_a_gpu(scale: Program, monkeypatch: pytest.MonkeyPatch):
    class Array(np.ndarray):
        """What is asked of an array of CuPy."""

        data = property(lambda self: SimpleNamespace(ptr=self.ctypes.data))
        device = SimpleNamespace(id=3)

    cupy = SimpleNamespace(
        ndarray=Array,
        asarray=lambda array: np.asarray(array).view(Array),
        dtype=np.dtype,
        empty=lambda shape, dtype: np.empty(shape, dtype).view(Array),
        cuda=SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=0)),
    )
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    x, b = cupy.empty((3, 8), "float32"), np.zeros(8, np.float32)
    with pytest.raises(fuseops.FuseOpsError, match=r"on the CPU, but got a CUDA device"):
        scale.run_forward((b[None].repeat(3, 0), cupy.asarray(b)))
    with pytest.raises(fuseops.FuseOpsError, match=r"`arg0` to have dtype float32 .* int8"):
        scale.run_forward((x.astype("int8"), b))


def test_pytorch_without_the_exchange_api(
    monkeypatch: pytest.MonkeyPatch, other_calls: list[Any], device: str
):
    monkeypatch.delattr(torch.Tensor, "__dlpack_c_exchange_api__")
    program = fuseops.compile_ir(SCALE, target=device)
    check_scale(program, torch.randn(3, 8, requires_grad=True), torch.randn(8))
    assert len(other_calls) == 2


class Refused(torch.Tensor):
    """A tensor without memory."""

    @staticmethod
    def __new__(cls: Any, shape: tuple[int, ...]) -> Refused:
        return torch.Tensor._make_wrapper_subclass(cls, shape, device=torch.get_default_device())

    @classmethod
    def __torch_dispatch__(cls, *arguments: Any) -> Any:
        raise AssertionError("a refused tensor was computed with")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x: x.double(), r"`arg0` to have dtype torch.float32, but got torch.float64"),
        (lambda x: x.to(torch.complex64), r"`arg0` .* but got torch.complex64"),
        (lambda x: x.view(torch.uint8), r"`arg0` .* but got torch.uint8"),
        (lambda x: x.to("meta"), r"`arg0` to be a tensor with memory, but got Tensor: .*meta"),
        (lambda x: x.to_sparse(), r"`arg0` to be a tensor with memory, but got Tensor"),
        (lambda x: Refused(x.shape), r"`arg0`\) to have memory, but its data is NULL"),
        (lambda x: x[:, :7], r"`arg0`\) to have 8 elements in dimension 1, but got 7"),
        (lambda x: x[0], r"`arg0`\) to have 2 dimensions, but got 1"),
        (lambda x: None, r"`arg0` to be a tensor, but got None"),
    ],
)
def test_refused_inputs(scale: Program, make: Callable[[Any], Any], message: str):
    with pytest.raises(fuseops.FuseOpsError, match=message) as caught:
        scale.run_forward((make(torch.randn(3, 8)), torch.randn(8)))
    assert "\n" not in str(caught.value)
    # The next call is not touched by it.
    check_scale(scale, torch.randn(2, 8), torch.randn(8))


def test_refused_calls(scale: Program):
    with pytest.raises(fuseops.FuseOpsError, match="expected 2 arguments, but got 1"):
        scale.run_forward((torch.randn(2, 8),))
    with pytest.raises(TypeError):
        scale.run_forward(3)
    _, *saved = scale.run_forward((torch.randn(2, 8), torch.randn(8)))
    with pytest.raises(fuseops.FuseOpsError, match="`grad_result0` to be a tensor, but got None"):
        scale.run_backward((None, *saved))


def test_metadata(scale: Program):
    assert scale.arguments == (("arg0", "f32", (None, 8)), ("arg1", "f32", (8,)))
    assert scale.results == (("result0", "f32", (None, 8)),)
    assert scale.num_results == 1


@pytest.mark.usefixtures("only_native")
def test_many_threads_and_sizes(scale: Program, device: str):
    def work(seed: int) -> None:
        generator = np.random.default_rng(seed)
        for rows in generator.integers(0, 200, 50):
            x = torch.randn(rows, 8, device=device)
            z, *_ = scale.run_forward((x, x.new_ones(8)))
            torch.testing.assert_close(z, x * x + 1)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(16)))


@pytest.mark.usefixtures("cpu")
def test_the_interpreter_runs_meanwhile():
    size = 512
    program = fuseops.compile_ir(
        f"""
fuseops.fusible @product(%x: tensor<?x{size}xf64>, %w: tensor<{size}x{size}xf64>) -> tensor<?x{size}xf64>
forward {{
  %y = fuseops.matmul %x, %w : tensor<?x{size}xf64>, tensor<{size}x{size}xf64> -> tensor<?x{size}xf64>
  fuseops.return %y : tensor<?x{size}xf64>
}}
"""  # noqa: E501
    )
    x, w = torch.randn(size * 4, size).double(), torch.randn(size, size).double()
    program.run_forward((x, w))
    ticks = 0
    done = threading.Event()

    def run() -> None:
        program.run_forward((x, w))
        done.set()

    # Longer than any run: without the lock, a thread gets it only when another
    # gives it up by itself.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        while not done.is_set():
            ticks += 1
            done.wait(1e-4)
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert ticks > 3


@pytest.mark.usefixtures("only_native")
def test_nothing_is_kept(scale: Program):
    x, b = torch.randn(3, 8), torch.randn(8)
    wrong = torch.randn(3, 7)

    def call(rows: int) -> None:
        _, *saved = scale.run_forward((x, b))
        scale.run_backward((x, *saved))
        # More sizes than plans are kept.
        scale.run_forward((torch.empty(rows, 8), b))
        # Failures at each stage; torch's own are slow.
        for bad in (wrong, x.to("meta")) if rows % 50 == 0 else (wrong,):
            with pytest.raises(fuseops.FuseOpsError):
                scale.run_forward((bad, b))

    for rows in range(200):
        call(rows)
    # What earlier tests left goes first; some of it holds more.
    for _ in range(3):
        gc.collect()
    counts = [sys.getrefcount(o) for o in (x, b, wrong, None, torch.float32, x.device)]
    objects, memory = len(gc.get_objects()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for rows in range(10000):
        call(rows % 200)
    gc.collect()
    after = [sys.getrefcount(o) for o in (x, b, wrong, None, torch.float32, x.device)]
    # One a call would be 10,000.
    assert all(abs(a - b) < 5000 for a, b in zip(after, counts, strict=True)), (counts, after)
    assert len(gc.get_objects()) - objects < 500
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 4096


def test_results_and_programs_are_freed(device: str):
    program = fuseops.compile_ir(SCALE, target=device)
    x = torch.randn(3, 8)
    outputs = program.run_forward((x, torch.randn(8)))
    loaded, result = weakref.ref(program._program), weakref.ref(outputs[0])
    del outputs
    assert result() is None
    assert sys.getrefcount(x) == 2
    del program
    assert loaded() is None


@pytest.mark.usefixtures("cpu")
@pytest.mark.parametrize("minor", [10, 11, 12, 13])
def test_one_file_for_every_python(scale: Program, tmp_path: Path, minor: int):
    python = shutil.which(f"python3.{minor}")
    if python is None or subprocess.run([python, "-c", ""], capture_output=True).returncode:
        pytest.skip(f"needs Python 3.{minor}")
    scale.save(tmp_path / "scale.fuseops")
    script = (
        "import sys, fuseops\n"
        "program = fuseops.Program.load(sys.argv[1])\n"
        "try:\n"
        "    program.run_forward([None])\n"
        "except fuseops.FuseOpsError as error:\n"
        "    print(error)\n"
    )
    command = [python, "-c", script, str(tmp_path / "scale.fuseops")]
    folder = Path(fuseops.__file__).resolve().parents[1]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (done.stdout, done.stderr) == ("expected 2 arguments, but got 1\n", "")


def test_results_are_ordinary_tensors(scale: Program):
    z, *_ = scale.run_forward((torch.randn(3, 8), torch.randn(8)))
    # What CUDA graphs and record_stream need is memory that torch's own
    # allocator gave: only that can be resized.
    z.resize_(100)
    assert z.shape == (100,)


@pytest.mark.usefixtures("cpu")
def test_host_cost_benchmark(tmp_path: Path):
    script = Path(__file__).resolve().parents[2] / "benchmarks" / "host_cost.py"
    command = [sys.executable, str(script), "--device=cpu", "--series=1", "--calls=3"]
    command += ["--json", str(tmp_path / "times.json")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "times.json").read_text())["rows"]
    times = {row["name"]: row["time_us"] for row in rows}
    for name in ("eager add", "Program.run_forward", "pipeline forward", "pipeline backward"):
        assert times[f"host_cost.{name}"] > 0
