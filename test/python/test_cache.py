# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compile cache on disk: when it answers, and what it survives."""

from __future__ import annotations

import dataclasses
import os
import re
import signal
import stat
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import fuseops
import numpy as np
import pytest
from conftest import ROOT
from fuseops import cache, options


def program_text(factor: float = 2.0) -> str:
    return f"""
fuseops.fusible @scale(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {{
  %y = fuseops.pointwise (%a = %x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {{
    %c = arith.constant {factor} : f32
    %r = arith.mulf %a, %c : f32
    fuseops.yield %r : f32
  }}
  fuseops.return %y : tensor<?x8xf32>
}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache, switched on, and this process' counts at zero."""
    path = tmp_path / "cache"
    monkeypatch.setenv("FUSEOPS_CACHE_DIR", str(path))
    monkeypatch.setenv("FUSEOPS_CACHE", "1")
    monkeypatch.setattr(cache, "_counts", cache._Counts())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield path


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.program"))


def counts() -> tuple[int, int]:
    info = cache.info()
    return info.hits, info.misses


def key(text: str = program_text(), name: str = "source", **given: str) -> str:
    return cache.entry_key(text.encode(), name, options.CompileOptions(**given))


def check_scales(program: fuseops.Program, factor: float) -> None:
    x = np.arange(16, dtype=np.float32).reshape(2, 8)
    np.testing.assert_array_equal(program(x), x * np.float32(factor))


def test_the_second_time_is_a_hit(folder: Path, monkeypatch: pytest.MonkeyPatch):
    check_scales(fuseops.compile_ir(program_text()), 2)
    assert counts() == (0, 1)

    def refuse(*_args: object, **_options: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(fuseops._capi, "compile_source", refuse)
    check_scales(fuseops.compile_ir(program_text()), 2)
    assert counts() == (1, 1)
    assert len(entries(folder)) == 1


def test_another_process_hits(folder: Path):
    fuseops.compile_ir(program_text())
    script = (
        "import sys, fuseops\n"
        "fuseops.compile_ir(sys.stdin.read())\n"
        "info = fuseops.cache.info()\n"
        "print(info.hits, info.misses, info.entries)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=program_text(),
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["1", "0", "1"], done.stderr


def test_a_hit_is_what_a_compilation_gives(folder: Path):
    compiled = fuseops.compile_ir(program_text())
    cached = fuseops.compile_ir(program_text())
    assert counts() == (1, 1)
    assert cached._data == compiled._data == fuseops.emit(program_text())


@pytest.mark.parametrize(
    "changed",
    [
        {"text": program_text(3.0)},
        {"text": program_text() + "// a comment\n"},
        {"name": "other.mlir"},
        {"target": "cpu:x86-64-v3"},
        {"target": "cuda:sm_90a"},
        {"recipe": "delayed"},
        {"entry": "scale"},
    ],
    ids=" ".join,
)
def test_each_part_of_the_key(folder: Path, changed: dict[str, str]):
    assert key(**changed) != key()
    assert key(**changed) == key(**changed)


def test_every_compile_option_is_in_the_key(folder: Path):
    for option in dataclasses.fields(options.CompileOptions):
        assert key(**{option.name: "x"}) != key(**{option.name: "y"}), option.name


def test_compiler_is_in_the_key(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    known = key()
    library = options.find_library("fuseops_compiler")
    data = library.read_bytes()
    build_id = data.index(b"GNU\0", data.index(b"\x14\0\0\0\x03\0\0\0"))
    assert build_id < 4096, "the build ID is not in the first page"
    other = tmp_path / library.name
    # Another build differs in its ID; a copy of the same one does not.
    for difference, expected in ((0, True), (1, False)):
        other.write_bytes(
            data[: build_id + 4] + bytes([data[build_id + 4] ^ difference]) + data[build_id + 5 :]
        )
        monkeypatch.setenv("FUSEOPS_LIBRARY_PATH", str(tmp_path))
        cache._compiler_identity.cache_clear()
        assert (key() == known) is expected
    cache._compiler_identity.cache_clear()


def test_cpu_is_in_the_key_of_native_code_only(folder: Path, monkeypatch: pytest.MonkeyPatch):
    assert "flags" in cache._machine() or not Path("/proc/cpuinfo").exists()
    targets = ["cpu", "cpu:native", "reference", "cpu:x86-64-v3", "cuda:sm_90a"]
    before = [key(target=target) for target in targets]
    monkeypatch.setattr(cache, "_machine", lambda: {"flags": "another CPU's"})
    after = [key(target=target) for target in targets]
    assert [a != b for a, b in zip(after, before, strict=True)] == [True, True, True, False, False]


def test_cuda_tools_are_in_the_key_of_cuda(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def keys() -> tuple[str, str]:
        return key(target="cuda:sm_90a"), key()

    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "another-cuda"))
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    known = [keys()]
    for toolkit in ("another-cuda", "site-packages/nvidia", "site-packages/triton"):
        (tmp_path / toolkit).mkdir(parents=True)
        known.append(keys())
    assert len({cuda for cuda, _ in known}) == 4
    assert len({cpu for _, cpu in known}) == 1


@pytest.mark.parametrize("damage", ["one bit", "truncated", "empty", "of another", "appended"])
def test_damaged_entry_is_compiled_again_with_a_warning(folder: Path, damage: str):
    fuseops.compile_ir(program_text())
    (entry,) = entries(folder)
    data = entry.read_bytes()
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 4
    fuseops.compile_ir(program_text(3.0))
    (other,) = set(entries(folder)) - {entry}
    damaged = {
        "one bit": bytes(flipped),
        "truncated": data[: len(data) // 2],
        "empty": b"",
        "of another": data[:32] + other.read_bytes()[32:],
        "appended": data + b"\0",
    }[damage]
    entry.write_bytes(damaged)
    with pytest.warns(UserWarning, match=f"cache entry {re.escape(str(entry))} is damaged"):
        check_scales(fuseops.compile_ir(program_text()), 2)
    # It is whole again.
    assert entry.read_bytes() == data
    check_scales(fuseops.compile_ir(program_text()), 2)


WRITER = """
import os, sys, fuseops
import numpy as np
texts = sys.stdin.read().split("//----")
print("ready", flush=True)
x = np.ones((3, 8), np.float32)
for turn in range(3):
    for index, text in enumerate(texts):
        assert (fuseops.compile_ir(text)(x) == index + 1).all(), (turn, index)
        if turn < 2 and index % 2 == os.getpid() % 2:
            fuseops.cache.clear()
"""


def test_eight_processes_at_once(folder: Path):
    texts = "//----".join(program_text(float(i + 1)) for i in range(4))
    command = [sys.executable, "-W", "error", "-c", WRITER]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    writers = [subprocess.Popen(command, env=environment, text=True, **pipes) for _ in range(8)]
    for writer in writers:
        writer.stdin.write(texts)
        writer.stdin.flush()
    for writer in writers:
        _, errors = writer.communicate(timeout=300)
        assert writer.returncode == 0, errors
    assert not list(folder.glob("*/.writing-*"))
    for index in range(4):
        check_scales(fuseops.compile_ir(program_text(float(index + 1))), index + 1)


def test_killed_writer_leaves_no_entry(folder: Path):
    script = (
        "import os, sys, fuseops\n"
        "os.replace = lambda *_: os.kill(os.getpid(), 9)\n"
        "fuseops.compile_ir(sys.stdin.read())"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, input=program_text(), env=environment, text=True)
    assert done.returncode == -signal.SIGKILL
    (left,) = folder.glob("*/.writing-*")
    assert cache.info().entries == 0
    check_scales(fuseops.compile_ir(program_text()), 2)
    assert left.exists()
    # What it left goes when no writer can be at it any more.
    os.utime(left, (time.time() - 7200,) * 2)
    assert cache.info().entries == 1
    assert not left.exists()


def test_folder_that_cannot_be_written(folder: Path):
    # A file where the folder should be refuses root, too.
    folder.write_text("")
    with pytest.warns(UserWarning, match=f"cannot write {re.escape(str(folder))}") as caught:
        check_scales(fuseops.compile_ir(program_text()), 2)
    assert len(caught) == 1
    # Once is enough: another warning would be an error here.
    check_scales(fuseops.compile_ir(program_text()), 2)
    assert cache.info().entries == 0


def test_read_only_folder_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch):
    fuseops.compile_ir(program_text())

    def refuse(*_args: object, **_options: object) -> None:
        raise PermissionError(13, "Permission denied")

    # What the operating system says to all but root.
    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(cache.tempfile, "mkstemp", refuse)
    check_scales(fuseops.compile_ir(program_text()), 2)
    assert counts() == (1, 1)
    with pytest.warns(UserWarning, match="Permission denied"):
        check_scales(fuseops.compile_ir(program_text(3.0)), 3)


def test_disk_full_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.warns(UserWarning, match="No space left"):
        check_scales(fuseops.compile_ir(program_text()), 2)
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_least_recently_used_is_evicted(folder: Path, monkeypatch: pytest.MonkeyPatch):
    size = 32 + len(fuseops.emit(program_text(1.0)))
    monkeypatch.setenv("FUSEOPS_CACHE_LIMIT_MIB", str(3.5 * size / 2**20))
    factors = [1.0, 2.0, 3.0]
    paths = {}
    for age, factor in enumerate(factors):
        known = set(entries(folder))
        fuseops.compile_ir(program_text(factor))
        (paths[factor],) = set(entries(folder)) - known
        os.utime(paths[factor], (time.time() - 100 + age,) * 2)
    fuseops.compile_ir(program_text(1.0))  # Now 2.0 is the oldest.
    fuseops.compile_ir(program_text(4.0))
    assert {f for f in factors if paths[f].exists()} == {1.0, 3.0}
    info = cache.info()
    assert info.entries == 3
    assert info.bytes <= info.limit


def test_switched_off(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FUSEOPS_CACHE", "0")
    for _ in range(2):
        check_scales(fuseops.compile_ir(program_text()), 2)
    assert not folder.exists()
    assert not cache.info().is_on


def test_failures_are_not_kept(folder: Path):
    for _ in range(2):
        with pytest.raises(fuseops.FuseOpsError, match="error: "):
            fuseops.compile_ir("\nnot IR\n")
    assert counts() == (0, 2)
    assert entries(folder) == []


def test_clear_leaves_files_of_others(folder: Path):
    fuseops.compile_ir(program_text())
    (entry,) = entries(folder)
    others = [folder / "notes.txt", entry.parent / "notes.program", folder / "sub" / entry.name]
    for other in others:
        other.parent.mkdir(exist_ok=True)
        other.write_text("mine")
    cache.clear()
    assert entries(folder) == sorted(path for path in others if path.suffix == ".program")
    assert cache.info().entries == 0
    cache.clear()


def test_entries_are_of_the_user_only(folder: Path):
    fuseops.compile_ir(program_text())
    (entry,) = entries(folder)
    for path in (entry, entry.parent):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"FUSEOPS_CACHE_DIR": "/a/b", "XDG_CACHE_HOME": "/x"}, "/a/b"),
        ({"XDG_CACHE_HOME": "/x"}, "/x/fuseops"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/home/u"}, "/home/u/.cache/fuseops"),
        ({"HOME": "/home/u"}, "/home/u/.cache/fuseops"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_folder(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], expected: str):
    for name in ("FUSEOPS_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert options.cache_folder() == Path(expected)


def test_wrong_limit_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FUSEOPS_CACHE_LIMIT_MIB", "many")
    with pytest.raises(fuseops.FuseOpsError, match="`FUSEOPS_CACHE_LIMIT_MIB`, but got `many`"):
        fuseops.compile_ir(program_text())
