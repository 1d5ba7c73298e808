# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What we import converts to the same program as what torch-mlir imports."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import BIN, ROOT

torch = pytest.importorskip("torch")

from fuseops.torch import import_function, import_graph  # noqa: E402

FIXTURES = ROOT.parent / "shared" / "fixtures" / "torch"
pytestmark = pytest.mark.skipif(not FIXTURES.is_dir(), reason=f"no folder {FIXTURES}")


@cache
def families() -> dict[str, list[str]]:
    sys.path.append(str(FIXTURES))
    from cases import names  # noqa: PLC0415

    found: dict[str, list[str]] = defaultdict(list)
    for name in names():
        found[name.split("/")[0]].append(name)
    return found


def converted(text: str, folder: Path) -> str:
    """The converted program, or what the refusal says, each reason once."""
    path = folder / "program.mlir"
    path.write_text(text)
    command = [str(BIN / "fuse-opt"), str(path), "--convert-torch-to-fuseops", "--cse"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        lines = done.stderr.splitlines()
        reasons = [re.sub(r".*?error: ", "", line) for line in lines if "error: " in line]
        assert reasons, done.stderr
        return "\n".join(dict.fromkeys(reasons))
    # Resources of the same bytes may have other names.
    program = done.stdout
    for name, data in re.findall(r'^ *([\w.]+): "(0x[0-9A-Fa-f]*)"', program, re.MULTILINE):
        program = re.sub(rf"\b{re.escape(name)}(?![\w.])", data, program)
    return program.split("{-#")[0]


def fixture(name: str, stages: tuple[str, ...]) -> str | None:
    for stage in stages:
        path = FIXTURES / f"{name}.{stage}.mlir"
        if path.exists():
            return path.read_text()
    return None


def imported_programs(name: str) -> list[tuple[str, str, str]]:
    """A name, our text and torch-mlir's, of each program of a case."""
    from cases import build  # noqa: PLC0415
    from generate import training_graphs  # noqa: PLC0415

    case = build(name)
    if "training" not in case.tags:
        stages = ("raw",) if case.dynamic is None else ("symbols", "raw")
        theirs = fixture(name, stages)
        if theirs is None:  # Upstream cannot import it.
            return []
        return [(name, import_function(case.module, case.args, dynamic=case.dynamic), theirs)]
    programs = []
    for partition, core in (("default", False), ("min_cut", False), ("default", True)):
        graphs: dict[str, Any] = training_graphs(name, partition, core)
        for part, graph in graphs.items():
            stage = f"{part}{'.min_cut' * (partition == 'min_cut')}{'.core' * core}"
            theirs = fixture(name, (stage,))
            if theirs is not None:
                programs.append((f"{name}.{stage}", import_graph(graph, part), theirs))
    return programs


@pytest.mark.parametrize("family", families() if FIXTURES.is_dir() else [])
def test_imports_are_those_of_torch_mlir(family: str, tmp_path: Path) -> None:
    for name in families()[family]:
        for program, ours, theirs in imported_programs(name):
            assert converted(ours, tmp_path) == converted(theirs, tmp_path), program
