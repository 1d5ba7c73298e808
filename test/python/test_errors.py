# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whatever goes wrong in compile_ir is a FuseOpsError, and changes nothing."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import fuseops
import pytest
from conftest import ROOT
from fuseops import options

GOOD = """
fuseops.fusible @double(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  %y = fuseops.add %x, %x : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  fuseops.return %y : tensor<?x8xf32>
}
"""
BAD = {
    "syntax": "fuseops.fusible @f(\n",
    "empty": "",
    "no program": "module {\n}\n",
    "types": GOOD.replace("-> tensor<?x8xf32>\n  f", "-> tensor<?x9xf32>\n  f"),
    "unknown op": GOOD.replace("fuseops.add", "fuseops.no_such_op"),
    "unknown dialect": GOOD.replace("fuseops.add", "nobody.add"),
    "one long line": "x" * 5000,
    "a name of no file": "missing.mlir",
    "zero bytes": "\n\0\0\0",
    "half a surrogate": "\n\ud800",
    "bytecode": "ML\ufeffR\n",
    "cuda only": GOOD,
}
OPTIONS = {
    "types": {"target": "reference"},
    "cuda only": {"target": "cuda:sm_1"},
}


def state() -> dict[str, object]:
    """What a process shares, and a compilation might change."""
    status = Path("/proc/self/status").read_text().splitlines()
    return {
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "signals": [line for line in status if line.startswith(("SigCgt", "SigIgn", "SigBlk"))],
        "files": sorted(os.readlink(f"/proc/self/fd/{fd}") for fd in descriptors()),
        "threads": threading.active_count(),
        "umask": os.umask(os.umask(0o22)),
    }


def descriptors() -> list[str]:
    return [fd for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")]


@pytest.fixture(autouse=True)
def reproducers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("FUSEOPS_REPRODUCER_PATH", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", BAD)
def test_every_failure_carries_diagnostics(name: str):
    with pytest.raises(fuseops.FuseOpsError) as caught:
        fuseops.compile_ir(BAD[name], **OPTIONS.get(name, {}))
    assert caught.value.diagnostics.strip()
    assert caught.value.diagnostics.strip() in str(caught.value)


@pytest.mark.parametrize("name", BAD)
def test_failure_leaves_all_as_it_was(name: str):
    expected = fuseops.emit(GOOD)
    before = state()
    for _ in range(3):
        with pytest.raises(fuseops.FuseOpsError):
            fuseops.compile_ir(BAD[name], **OPTIONS.get(name, {}))
    assert state() == before
    assert fuseops.emit(GOOD) == expected


def test_file_that_is_not_text(tmp_path: Path):
    path = tmp_path / "latin1.mlir"
    path.write_bytes(b"fuseops.fusible @\xe9\xff(\n")
    with pytest.raises(fuseops.FuseOpsError, match=r"latin1\.mlir:1:"):
        fuseops.compile_ir(path)


@pytest.mark.parametrize("name", ["missing.mlir", "a folder", "zero\0byte"])
def test_path_that_cannot_be_read(tmp_path: Path, name: str):
    (tmp_path / "a folder").mkdir()
    with pytest.raises(fuseops.FuseOpsError, match="cannot read `") as caught:
        fuseops.compile_ir(tmp_path / name)
    assert caught.value.diagnostics == str(caught.value)


def test_name_of_a_file_is_a_path(tmp_path: Path):
    path = tmp_path / "double.txt"
    path.write_text(GOOD)
    assert fuseops.compile_ir(str(path)).name == "double"


def test_failure_in_one_thread_leaves_the_others_alone():
    expected = fuseops.emit(GOOD)
    wrong: list[object] = []

    def compile_bad() -> None:
        for _ in range(10):
            try:
                fuseops.compile_ir(BAD["types"])
                wrong.append("compiled")
            except fuseops.FuseOpsError as error:
                if "tensor<?x9xf32>" not in error.diagnostics:
                    wrong.append(error)

    def compile_good() -> None:
        for _ in range(10):
            if fuseops.emit(GOOD) != expected:
                wrong.append("another program")

    threads = [threading.Thread(target=f) for f in (compile_bad, compile_good) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_nothing_is_printed():
    script = (
        "import sys, fuseops\n"
        "try:\n    fuseops.compile_ir(sys.stdin.read())\n"
        "except fuseops.FuseOpsError as error:\n    assert 'error: ' in error.diagnostics"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=BAD["types"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_folder_for_reproducers_that_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("FUSEOPS_REPRODUCER_PATH", str(tmp_path / "none"))
    with pytest.raises(fuseops.FuseOpsError, match="error: ") as caught:
        fuseops.compile_ir(BAD["types"])
    assert caught.value.reproducer is None
    assert tempfile.gettempdir() not in str(caught.value)


def test_library_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(options, "library_folders", lambda: [tmp_path])
    with pytest.raises(
        fuseops.FuseOpsError, match=r"cannot find libfuseops_compiler\.so"
    ) as caught:
        fuseops.compile_ir(GOOD)
    assert caught.value.diagnostics


def test_error_travels_between_processes():
    with pytest.raises(fuseops.FuseOpsError) as caught:
        fuseops.compile_ir(BAD["types"])
    arrived = pickle.loads(pickle.dumps(caught.value))
    assert str(arrived) == str(caught.value)
    assert (arrived.diagnostics, arrived.reproducer, arrived.command) == (
        caught.value.diagnostics,
        caught.value.reproducer,
        caught.value.command,
    )


def test_child_of_a_fork_compiles():
    expected = fuseops.emit(GOOD)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if fuseops.emit(GOOD) == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
