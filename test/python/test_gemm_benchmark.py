# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rows of generated products: their programs, what they expect, how they are judged and
written down. Only their times need a GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from conftest import ROOT
from fuseops.arrays import torch_dtype
from gemm_case import Case
from gemm_simulation import compile_case, emit, run_kernels

torch = pytest.importorskip("torch")

import cublaslt  # noqa: E402 (they need torch)
import measure_gemm  # noqa: E402
from gemm import ROWS, Row  # noqa: E402

# One tile is full, others are not; K ends within a stage.
EXTENTS = (130, 256, 272)


def test_each_row_comes_once() -> None:
    names = [row.name for row in ROWS]
    assert len(names) == len(set(names))


def to_types(tensors: Iterable[torch.Tensor], outputs: dict[str, str]) -> tuple:
    kinds = [kind.rpartition("x")[2].strip("tensor<>") for kind in outputs.values()]
    return tuple(one.to(torch_dtype(kind)) for one, kind in zip(tensors, kinds, strict=True))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_is_expected(row: Row) -> None:
    """The kernel, simulated, gives what the row says."""
    m, n, k = row.fit(EXTENTS)
    inputs, body, outputs = row.group(n, k)
    case = Case(inputs, body, outputs, row.expected, rows=m, schedule="workers = 2")
    torch.manual_seed(0)
    tensors = row.make(m, n, k)
    given = [tensor.reshape(-1).view(torch.uint8).numpy() for tensor in tensors]
    found = run_kernels(case, compile_case(case), given, late=False)
    expected, responses = measure_gemm.expect(row, tensors)
    typed = to_types(map(torch.from_numpy, found), outputs)
    assert measure_gemm.find_fault(typed, expected, responses) == ""
    # Something of each output is judged.
    for number, output in enumerate(typed):
        wrong = [one.clone() for one in typed]
        wrong[number].view(-1)[-1] = -1.5 * output.view(-1)[-1].double() - 1
        fault = measure_gemm.find_fault(tuple(wrong), expected, responses)
        assert fault.startswith(f"output {number}: ")


def add_up(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """As the tensor cores of Hopper add FP8: by 32, each addend cut 13 bits below the
    largest."""
    total = torch.zeros(len(a), len(b), dtype=torch.float64)
    for k in range(0, a.shape[1], 32):
        products = a[:, None, k : k + 32].double() * b[None, :, k : k + 32].double()
        addends = torch.cat([products, total[..., None]], 2)
        exponent = torch.frexp(addends.abs().amax(2, keepdim=True))[1]
        unit = 2.0 ** (exponent.double() - 14)
        total = ((addends / unit).trunc() * unit).sum(2)
    return total


@pytest.mark.parametrize(
    "row", [row for row in ROWS if "scaled_matmul" in row.body], ids=lambda r: r.name
)
def test_long_sums(row: Row) -> None:
    """Those of FP8 as the GPU adds them up are right, and not if one tile lacks a stage."""
    torch.manual_seed(0)
    m, n, k = (4096, 48, 64) if row.unit > 1 else (48, 64, 4096)
    inputs = row.make(m, n, k)
    (a, s, b, t), others = row.split(inputs)
    s.fill_(1)
    t.fill_(1)
    step = a.shape[1] if row.is_fast else 128
    product = sum(map(add_up, a.split(step, 1), b.split(step, 1)))
    outputs = row.group(n, k)[2]
    expected, responses = measure_gemm.expect(row, inputs)
    rounded = product if "bf16" not in row.body else product.bfloat16().double()
    found = to_types(row.finish(rounded, *others), outputs)
    assert measure_gemm.find_fault(found, expected, responses) == ""
    rounded[:32, :32] -= a[:32, -128:].double() @ b[:32, -128:].double().T
    found = to_types(row.finish(rounded, *others), outputs)
    assert measure_gemm.find_fault(found, expected, responses).startswith("output 0: ")


@pytest.mark.parametrize("row", [r for r in ROWS if r.is_library_call], ids=lambda row: row.name)
def test_peers_that_are_library_calls(row: Row) -> None:
    _, n, k = row.shapes[0]
    report = json.loads(emit(row.program(n, k, "", "library"), "report"))
    assert [kernel["template"] for kernel in report["entries"][0]["kernels"]] == ["library"]


def test_faults() -> None:
    """A NaN, a shape and an element that is off are each found."""
    right = torch.full((4, 8), 3.0, dtype=torch.bfloat16)
    expected, responses = [right.double()], [torch.full_like(right, 1e-4).double()]
    assert measure_gemm.find_fault(right, expected, responses) == ""
    wrong = right.clone()
    wrong[3, 7] = float("nan")
    assert measure_gemm.find_fault(wrong, expected, responses) == "output 0: nan of the bound"
    wrong[3, 7] = 3.0625
    assert measure_gemm.find_fault(wrong, expected, responses).endswith(" of the bound")
    assert "expected (4, 8)" in measure_gemm.find_fault(right[1:], expected, responses)


def test_memory_is_poisoned() -> None:
    with measure_gemm.poisoned():
        assert torch.empty_strided((3, 4), (4, 1), dtype=torch.float8_e4m3fn).float().isnan().all()
    assert not torch.are_deterministic_algorithms_enabled()


def test_description() -> None:
    """The schema of the results (DESIGN.md, section 8)."""
    row = next(row for row in ROWS if row.name == "gemm_fp8")
    m, n, k = EXTENTS
    report = json.loads(emit(row.program(n, k, ""), "report"))
    found = measure_gemm.describe(row, EXTENTS, report, 10.0, [9.0, 8.0])
    size = m * k + n * k + 2 * m * n + 8
    assert found == {
        "name": "gemm_fp8",
        "shape": [m, n, k],
        "dtype": "f8E4M3FN",
        "time_us": 10.0,
        "bytes": size,
        "flops": 2 * m * n * k,
        "tflops": 2 * m * n * k / 10e6,
        "kernels": [
            {
                "name": "k",
                "template": "gemm",
                "members": ["fuseops.scaled_matmul"],
                "bytes": size,
            }
        ],
        "peers": {"cublaslt": 8.0},
        "ratio": 0.8,
    }


def test_peers_of_fp8() -> None:
    """Scales of whole tensors are given as they are, and as one of each row too."""
    given = []
    row = Row("", "", "", "", None, None, None, lambda *inputs: given.append(inputs))
    a, b = (torch.zeros(size, 32, dtype=torch.float8_e4m3fn) for size in (3, 5))
    scales = torch.tensor(2.0), torch.tensor(4.0)
    for call in measure_gemm.peers_of(row, (3, 5, 32), [a, scales[0], b, scales[1]]):
        call()
    shapes = [(tuple(s.shape), tuple(t.shape)) for _, s, _, t in given]
    assert shapes == [((), ()), ((3, 1), (1, 5))]
    assert given[1][3].eq(4).all()
    assert len(measure_gemm.peers_of(row, (3, 5, 32), [a.bfloat16(), b.bfloat16()])) == 1
    row.outputs = "q: tensor<NxKxf32>"
    assert len(measure_gemm.peers_of(row, (3, 5, 32), [a, scales[0], b, scales[1]])) == 1


def test_peers_that_fail() -> None:
    def fail(*_: torch.Tensor) -> None:
        raise RuntimeError("status 15")

    row = Row("", "", "", "", None, None, None, fail)
    faults: list[str] = []
    assert measure_gemm.peers_that_run(row, (3, 5, 32), [torch.zeros(3, 32)], faults) == []
    assert faults == ["3x5x32: cuBLASLt: status 15"]


@pytest.mark.parametrize("row", [row for row in ROWS if row.list_peers], ids=lambda r: r.name)
def test_accumulations(row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    """cuBLASLt's calls add the product to a copy, each time again."""
    library = ROOT / "build" / "dev" / "lib" / "FuseOpsFakeCublasLt.so"
    if not library.exists():
        pytest.skip("needs the library that pretends to be cuBLASLt")
    monkeypatch.setattr(cublaslt, "LIBRARY", str(library))
    torch.manual_seed(0)
    inputs = row.make(272, 48, 32)
    c = inputs[4].clone()
    (call,) = row.list_peers(*inputs)
    (expected,) = row.expected(*inputs)
    torch.testing.assert_close(call().double(), expected, rtol=1e-5, atol=1e-4)
    torch.testing.assert_close(call().double(), 2 * expected - c, rtol=1e-5, atol=1e-4)
    assert inputs[4].equal(c)
    with pytest.raises(RuntimeError, match="MatmulAlgoGetHeuristic: status 15"):
        row.list_peers(*row.make(264, 48, 32))


def test_rows_fit() -> None:
    """Rows of `?` elements are a multiple of 16 bytes."""
    for row in ROWS:
        m, *others = row.fit((333, 1424, 912))
        assert others == [1424, 912]
        has_open_rows = "x?xf8" in row.arguments
        assert (m, row.unit) == ((336, 16) if has_open_rows else (333, 1))


FUSE_RUN = """#!/bin/sh
echo '{"chip": "NVIDIA H0", "copy_tbps": 4.0, "entries": []}'
"""
TABLES = {
    "rows.py": """
class Case:
    name, shape, rows = "memory", (1,), 1
    def source(self): return ""
    def checked_source(self): return ""
    def write(self, folder, source): return ["x.mlir"]
def list_cases(only=""): return iter([Case()])
""",
    "gemm.py": """
class Row:
    def __init__(self, name): self.name = name
ROWS = [Row("product"), Row("other"), Row("product_that_ends")]
""",
    "measure_gemm.py": """
import json, sys
name, *schedules = sys.argv[1:]
if name.endswith("ends"):
    sys.exit("it has ended")
row = {"name": name, "shape": [1, 2, 3], "time_us": 2.0, "bytes": 4_000_000, "tflops": 5.0}
row |= {"kernels": [], "peers": {"cublaslt": 1.0}, "ratio": 0.5}
for schedule in schedules:
    print(json.dumps({"row": row | {"schedule": schedule.partition("=")[2]}}))
print(json.dumps({"row": row} if not schedules else {"fault": "1x2x3: wrong"}))
""",
}


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """The scripts beside an archive whose programs only pretend."""
    tree = tmp_path / "fuseops"
    for folder in ("bin", "benchmarks"):
        (tree / folder).mkdir(parents=True)
    (tree / "bin" / "fuse-run").write_text(FUSE_RUN)
    (tree / "bin" / "fuse-run").chmod(0o755)
    for name, text in TABLES.items():
        (tree / "benchmarks" / name).write_text(text)
    with tarfile.open(tmp_path / "fuseops.tar.xz", "w:xz") as archive:
        archive.add(tree, arcname="fuseops")
    for script in ("gpu_test", "gpu_bench"):
        (tmp_path / script).write_text((ROOT / "scripts" / script).read_text())
    return tmp_path


def run_bench(folder: Path, *options: str) -> tuple[subprocess.CompletedProcess, dict]:
    command = [sys.executable, folder / "gpu_bench", f"--out={folder}", *options]
    environment = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    (path,) = folder.glob("h0-*.json")
    return done, json.loads(path.read_text())


def test_rows_of_products(bundle: Path) -> None:
    done, result = run_bench(bundle, "--rows=gemm", "--only=product")
    assert "FAIL product_that_ends: exit status 1: it has ended" in done.stdout
    assert done.returncode == 1
    (row,) = result["rows"]
    assert (result["chip"], result["copy_tbps"]) == ("NVIDIA H0", 4.0)
    assert (row["name"], row["share_of_floor"], row["ratio"]) == ("product", 0.5, 0.5)
    assert "cublaslt       1.0 us  0.500x" in done.stdout


def test_sweep(bundle: Path) -> None:
    sweep = bundle / "schedules"
    sweep.write_text("# the best\nstages = 3\n\nraster = 2, stages = 4\n")
    options = ("--rows=gemm", "--only=other", "--schedule=stages = 2", f"--sweep={sweep}")
    done, result = run_bench(bundle, *options)
    schedules = [row["schedule"] for row in result["rows"]]
    assert schedules == ["stages = 2", "stages = 3", "raster = 2, stages = 4"]
    assert "{raster = 2, stages = 4}" in done.stdout
    assert "FAIL other 1x2x3: wrong" in done.stdout
    assert done.returncode == 1


def test_memory_rows_are_the_default(bundle: Path) -> None:
    done, result = run_bench(bundle, "--no-peers")
    assert (done.returncode, result["rows"]) == (0, []), done.stdout
    done, result = run_bench(bundle, "--no-peers", "--rows=all", "--only=other")
    assert [row["name"] for row in result["rows"]] == ["other"]
