# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What docs/EagerOperators.md shows is so: its code runs, and its lists are whole."""

from __future__ import annotations

import inspect
import re
from typing import Any

import fuseops.nn.functional
from conftest import ROOT
from fuseops.torch.aten import PLANS

PAGE = (ROOT / "docs" / "EagerOperators.md").read_text()


def test_code_runs() -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["gate"].grad is not None
    assert all(parameter.grad is not None for parameter in names["model"].parameters())


def test_every_function_is_listed() -> None:
    table = re.search(r"^\| Function .*?\n\n", PAGE, re.M | re.S).group()
    listed = {name for row in table.strip().splitlines()[2:] for name in _code(row.split("|")[1])}
    functions = inspect.getmembers(fuseops.nn.functional, inspect.isfunction)
    public = {name for name, _ in functions if not name.startswith("_")}
    assert listed == public - {"random_state"}


def test_every_override_is_listed() -> None:
    section = PAGE.partition("## use_aten")[2].partition("threads.")[0]
    named = {*_code(section), "_softmax", "_log_softmax", "native_layer_norm"}
    kinds = {re.sub(r"_backward(_data)?$", "", name) for name in PLANS}
    assert kinds - {"threshold"} <= named


def _code(text: str) -> list[str]:
    return re.findall(r"`(\w+)`", text)
