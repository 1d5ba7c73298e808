# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The wheel: built from this checkout, installed into a venv of its own that has
neither PyTorch nor NumPy, and used from there."""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

TOOLS = ("fuse-opt", "fuse-compile", "fuse-run")
GLIBC = re.compile(r"(?:ld-linux-x86-64|libc|libm|libdl|libpthread|librt|linux-vdso)\.so")
# What PyPI takes without a request.
SIZE_LIMIT_MIB = 100


def pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    # As scripts/env.sh: ccache takes files with a precompiled header under these only.
    environment = {
        "CCACHE_SLOPPINESS": "pch_defines,time_macros,include_file_mtime,include_file_ctime",
        "CCACHE_BASEDIR": str(ROOT),
        "CCACHE_NOHASHDIR": "1",
        "CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count()),
        **os.environ,
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-8000:]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, through build/release, which is kept."""
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", ROOT, "--no-build-isolation", "--no-deps", "--no-cache-dir", "-w", folder)
    (path,) = folder.iterdir()
    return path


@dataclass(frozen=True)
class Installed:
    """A venv that holds the wheel and nothing else."""

    folder: Path

    @property
    def packages(self) -> Path:
        (path,) = self.folder.glob("lib/python3.*/site-packages")
        return path

    def run(self, *command: str | Path, **environment: str | Path) -> str:
        """What a command of the venv prints, in an environment with nothing set."""
        done = subprocess.run(
            [self.folder / "bin" / command[0], *command[1:]],
            cwd=self.folder,
            env={"HOME": str(self.folder), "PATH": "/usr/bin:/bin", **environment},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def python(self, script: str, **environment: str | Path) -> str:
        return self.run("python", "-W", "error", "-c", script, **environment)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=True, with_pip=False)
    python = folder / "bin" / "python"
    pip("--python", python, "install", "--no-index", "--no-cache-dir", wheel)
    return Installed(folder)


@pytest.fixture(scope="module")
def numpy_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PYTHONPATH with this venv's NumPy and no other package."""
    folder = tmp_path_factory.mktemp("numpy")
    site = Path(np.__file__).parents[1]
    for part in ("numpy", "numpy.libs"):
        if (site / part).exists():
            (folder / part).symlink_to(site / part)
    return folder


def test_wheel_holds_the_package_and_its_size_is_within_bounds(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    package = ROOT / "python" / "fuseops"
    sources = {f"fuseops/{p.relative_to(package)}" for p in package.rglob("*.py")}
    assert sources <= names
    assert "fuseops/py.typed" in names
    libraries = {f"fuseops/lib/libfuseops_{x}.so" for x in ("compiler", "runtime", "native")}
    headers = {f"fuseops/include/FuseOps-c/{h.name}" for h in ROOT.glob("include/FuseOps-c/*.h")}
    assert libraries | headers <= names
    scripts = {Path(name).name for name in names if ".data/scripts/" in name}
    assert scripts == set(TOOLS)
    others = {n for n in names if not n.startswith(("fuseops/", "fuseops-"))}
    assert others == set()
    size = wheel.stat().st_size / 2**20
    print(f"{wheel.name}: {size:.1f} MiB")
    assert size < SIZE_LIMIT_MIB


def test_metadata(wheel: Path):
    version = (ROOT / "VERSION").read_text().strip()
    # One file for each Python from 3.10 on.
    assert wheel.name == f"fuseops-{version}-cp310-abi3-linux_x86_64.whl"
    with zipfile.ZipFile(wheel) as archive:
        facts = email.message_from_bytes(
            archive.read(f"fuseops-{version}.dist-info/METADATA"),
        )
        points = archive.read(f"fuseops-{version}.dist-info/entry_points.txt").decode()
    assert facts["Version"] == version
    assert all("extra ==" in need for need in facts.get_all("Requires-Dist"))
    assert "[torch_dynamo_backends]\nfuseops = fuseops.torch.backend:fuseops_backend" in points


def test_libraries_and_tools_need_glibc_only(installed: Installed):
    files = [*installed.packages.glob("fuseops/lib/*.so")]
    files += [installed.folder / "bin" / tool for tool in TOOLS]
    assert len(files) == 3 + len(TOOLS)
    for file in files:
        listing = subprocess.run(["ldd", file], capture_output=True, text=True).stdout
        needed = [Path(line.split()[0]).name for line in listing.splitlines()]
        assert [name for name in needed if not GLIBC.match(name)] == [], file


def test_import_needs_neither_torch_nor_numpy(installed: Installed):
    script = (
        "import sys, importlib.util as u\n"
        "assert not u.find_spec('numpy') and not u.find_spec('torch')\n"
        "import fuseops\n"
        "print(fuseops.__file__)\n"
        "assert issubclass(fuseops.FuseOpsError, RuntimeError)\n"
        "assert fuseops.emit(sys.argv[1], 'report')"
    )
    program = str(ROOT / "examples" / "bias_gelu.mlir")
    place = installed.run("python", "-W", "error", "-c", script, program)
    assert Path(place.strip()).parents[1] == installed.packages


def test_own_libraries_come_first(installed: Installed):
    script = (
        "from fuseops import options\n"
        "for name in ('compiler', 'runtime', 'native'):\n"
        "    print(options.find_library('fuseops_' + name).parent)"
    )
    found = set(installed.python(script).split())
    assert found == {str(installed.packages / "fuseops" / "lib")}


def test_compiles_and_runs_numpy_arrays(installed: Installed, numpy_alone: Path):
    script = (
        "import sys, numpy as np, fuseops\n"
        "program = fuseops.compile_ir(sys.argv[1])\n"
        "x, b = np.ones((3, 256), np.float32), np.full(256, -1, np.float32)\n"
        "(y,), context = program.forward(x, b)\n"
        "dx, db = context.backward(np.ones_like(y))\n"
        "assert (y == 0).all() and np.allclose(dx, 0.5) and np.allclose(db, 1.5)\n"
        "again = fuseops.compile_ir(sys.argv[1])\n"
        "assert (again(x, b) == y).all()\n"
        "info = fuseops.cache.info()\n"
        "assert 'torch' not in sys.modules\n"
        "print(info.hits, info.misses, info.folder)"
    )
    program = str(ROOT / "examples" / "bias_gelu.mlir")
    printed = installed.run("python", "-c", script, program, PYTHONPATH=numpy_alone)
    assert printed.split() == ["1", "1", str(installed.folder / ".cache" / "fuseops")]


@pytest.mark.parametrize("example", ["bias_gelu.mlir", "llama_mlp.mlir"])
def test_tools(installed: Installed, example: str, tmp_path: Path):
    source = ROOT / "examples" / example
    ir = installed.run("fuse-opt", source, "--convert-torch-to-fuseops")
    assert "fuseops.fusible" in ir
    program = tmp_path / "program.fuseops"
    installed.run("fuse-compile", source, "-o", program)
    assert "backward" in installed.run("fuse-run", program, "--size", "3")
    assert "check: ok" in installed.run("fuse-run", source, "--size", "3", "--check")


def test_tools_are_those_of_the_checkout(installed: Installed):
    source = ROOT / "examples" / "bias_gelu.mlir"
    command = ["fuse-compile", source, "--target=cuda:sm_90a", "--emit=ptx", "-o", "-"]
    dev = subprocess.run(
        [ROOT / "build" / "dev" / "bin" / command[0], *command[1:]], capture_output=True, text=True
    )
    assert dev.returncode == 0, dev.stderr
    assert installed.run(*command) == dev.stdout


def test_program_runs_from_c_with_the_wheel_alone(installed: Installed, numpy_alone: Path):
    example = ROOT / "examples" / "aot_program.py"
    printed = installed.run("python", example, "--rows=9", PYTHONPATH=numpy_alone, CC="clang-22")
    assert "from C, 9 rows" in printed
    assert str(installed.packages / "fuseops" / "include") in printed


def test_torch_finds_the_backend_without_an_import(installed: Installed):
    pytest.importorskip("torch")
    script = (
        "import sys, torch\n"
        "assert 'fuseops' in torch._dynamo.list_backends()\n"
        "assert 'fuseops' not in sys.modules\n"
        "f = torch.compile(lambda x, b: torch.nn.functional.gelu(x + b), backend='fuseops')\n"
        "x, b = torch.randn(4, 8, requires_grad=True), torch.randn(8)\n"
        "y = f(x, b)\n"
        "torch.testing.assert_close(y, torch.nn.functional.gelu(x + b))\n"
        "y.sum().backward()\n"
        "assert x.grad is not None\n"
        "print(sys.modules['fuseops'].__file__)"
    )
    environment = {**os.environ, "PYTHONPATH": str(installed.packages)}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        cwd=installed.folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).parents[1] == installed.packages
