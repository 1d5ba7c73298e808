# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The log of the backend: logger `fuseops.torch`, and TORCH_LOGS."""

from __future__ import annotations

import logging
import os
import subprocess
import sys

import pytest
import torch
from conftest import ROOT
from fuseops.torch.backend import fuseops_backend

PROGRAM = """
import torch
from fuseops.torch.backend import fuseops_backend

def model(x):
    return torch.cumsum(torch.sigmoid(x) * x, 0)
torch.compile(model, backend=fuseops_backend, options={"rest": "eager"})(torch.randn(3, 4))
"""


def model(x: torch.Tensor) -> torch.Tensor:
    return torch.cumsum(torch.sigmoid(x) * x, 0)


def records(level: int, caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """What compiling logs at a level and above."""
    compiled = torch.compile(model, backend=fuseops_backend, options={"rest": "eager"})
    with caplog.at_level(level, logger="fuseops.torch"):
        compiled(torch.randn(3, 4))
    return [record for record in caplog.records if record.name == "fuseops.torch"]


def test_info_is_one_line_a_graph(caplog: pytest.LogCaptureFixture):
    (record,) = records(logging.INFO, caplog)
    text = record.getMessage()
    assert text.startswith("graph: 2 of 3 operations in 1 pipeline, compiled in ")


def test_debug_explains_each_operation(caplog: pytest.LogCaptureFixture):
    first, *others = [record.getMessage() for record in records(logging.DEBUG, caplog)]
    assert first.startswith("graph: ")
    line = model.__code__.co_firstlineno + 1
    source = f"({__file__}:{line}: return torch.cumsum(torch.sigmoid(x) * x, 0))"
    assert others == [
        f"sigmoid: in pipeline 0 {source}",
        f"mul: in pipeline 0 {source}",
        f"cumsum: cannot convert `torch.aten.cumsum`: not a fusible operation {source}",
    ]


def test_silent_by_default(caplog: pytest.LogCaptureFixture):
    assert records(logging.WARNING, caplog) == []


@pytest.mark.parametrize(
    ("setting", "lines"), [("fuseops.torch", 1), ("+fuseops.torch", 4), ("-fuseops.torch", 0)]
)
def test_torch_logs(setting: str, lines: int):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "TORCH_LOGS": setting},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    logged = [line for line in done.stderr.splitlines() if "fuseops/torch/" in line]
    assert len(logged) == lines, done.stderr
    assert all("graph: " in line for line in logged[:1])
