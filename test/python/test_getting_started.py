# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each command of docs/GettingStarted.md runs, in the order of the page."""

import re
import subprocess

import pytest
from conftest import ROOT

PAGE = (ROOT / "docs" / "GettingStarted.md").read_text()
BLOCKS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S)


def test_page_has_commands():
    assert len(BLOCKS) >= 4


@pytest.mark.parametrize("block", BLOCKS, ids=[b.split("\n", 1)[0][:60] for b in BLOCKS])
def test_commands_run(block: str):
    command = ["bash", "-euo", "pipefail", "-c", block]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
