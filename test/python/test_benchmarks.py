# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The listings of the benchmark, and scripts/gpu_bench where there is no GPU."""

from __future__ import annotations

import re
import runpy
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPILE = ROOT / "build" / "dev" / "bin" / "fuse-compile"


@pytest.fixture(scope="module")
def list_cases() -> Callable[..., Any]:
    return runpy.run_path(str(ROOT / "benchmarks" / "rows.py"))["list_cases"]


def test_each_row_comes_once(list_cases: Callable[..., Any]) -> None:
    for sizes in ("sizes", "cpu_sizes"):
        cases = [(case.name, case.shape) for case in list_cases("", sizes)]
        assert len(cases) == len(set(cases)) > 20


def test_columns_are_scaled(list_cases: Callable[..., Any]) -> None:
    small, large = list_cases("dswiglu_fp8_rc.block")
    assert small.source() == small.program.read_text()
    assert "tensor<?x57344xbf16>" in large.source()
    assert "offset(28672)" in large.source()
    assert "block<1x128>" in large.source()
    assert not re.search(r"\b14336\b", large.source())


@pytest.mark.parametrize("columns", [32, 131])
def test_kernels_of_other_columns_compile(
    list_cases: Callable[..., Any], columns: int, tmp_path: Path
) -> None:
    cases = {c.name: c for c in list_cases() if c.written_columns is not None}
    assert len(cases) > 20
    for case in cases.values():
        program = case.at(67, columns).write(tmp_path)
        options = ["--target=cuda:sm_90a", "-o", str(tmp_path / "program")]
        done = subprocess.run([COMPILE, *program, *options], capture_output=True, text=True)
        assert done.returncode == 0, (case.name, done.stderr)


def test_other_dtype(list_cases: Callable[..., Any]) -> None:
    (case,) = (case for case in list_cases("rmsnorm", "cpu_sizes") if case.name == "rmsnorm")
    source = replace(case, dtype="f32").source()
    assert "tensor<?x4096xf32>" in source
    assert "bf16" not in source


def test_applied_programs_are_no_rows(list_cases: Callable[..., Any]) -> None:
    assert not [case for case in list_cases("dswiglu") if case.name == "dswiglu"]


def test_names_of_directions(list_cases: Callable[..., Any]) -> None:
    case = next(list_cases("llama_mlp_block.delayed"))
    assert case.row_name("backward", is_alone=False) == "llama_mlp_block_bwd.delayed"
    assert case.row_name("forward", is_alone=True) == "llama_mlp_block.delayed"
    (case,) = {
        case.name: case for case in list_cases("add_rmsnorm") if case.name == "add_rmsnorm"
    }.values()
    assert case.row_name("backward", is_alone=False) == "rmsnorm_bwd_add"


def test_each_row_has_a_peer(list_cases: Callable[..., Any]) -> None:
    pytest.importorskip("torch")
    peers = runpy.run_path(str(ROOT / "benchmarks" / "peers.py"))["PEERS"]
    names = {case.name for case in list_cases() if "llama" not in case.name}
    assert names | {"llama_mlp_block.bf16"} == set(peers)
