# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""lit's configuration. `%fixtures` is test/Fixtures, `%examples` the folder
examples, `%python` the Python that runs lit. FUSEOPS_ROUNDTRIP=1 makes every
fuse-opt check that what it reads survives printing and parsing.
FUSEOPS_TEST_CUDA=1 runs the GPU tests without asking fuse-run for a GPU."""

import os
import shutil
import subprocess
import sys

import lit.formats

config.name = "FuseOps"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Fixtures", "Inputs", "python"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.fuseops_test_output

bins = [config.fuseops_bin, config.llvm_tools_dir]
config.environment["PATH"] = os.pathsep.join([*bins, config.environment["PATH"]])
for name in ("CUDA_HOME", "HOME", "ASAN_OPTIONS", "LD_LIBRARY_PATH", "OMP_NUM_THREADS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions.append(("%fixtures", os.path.join(config.test_source_root, "Fixtures")))
config.substitutions.append(("%examples", os.path.join(config.fuseops_source, "examples")))
config.substitutions.append(("%python", sys.executable))
if os.environ.get("FUSEOPS_ROUNDTRIP") == "1":
    # The command word alone, not a path that contains it.
    config.substitutions.append((r"(?<![\w/.-])fuse-opt(?![\w/.-])", "fuse-opt --verify-roundtrip"))


def has_cuda() -> bool:
    """Whether fuse-run sees a CUDA device here."""
    if os.environ.get("FUSEOPS_TEST_CUDA") == "1":
        return True
    tool = os.path.join(config.fuseops_bin, "fuse-run")
    try:
        run = subprocess.run([tool, "--list-devices"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return run.returncode == 0 and "cuda" in run.stdout.lower()


def has_assembler() -> bool:
    """Whether fuse-compile finds nvJitLink or ptxas here."""
    tool = os.path.join(config.fuseops_bin, "fuse-compile")
    program = os.path.join(config.test_source_root, "Pipelines", "walkthrough.mlir")
    command = [tool, program, "--target=cuda", "--emit=cubin", "-o", "-"]
    try:
        return subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def find_ptxas() -> str | None:
    """NVIDIA's assembler, where the CUDA toolkit is."""
    folders = [os.environ.get("CUDA_HOME"), "/usr/local/cuda"]
    path = [f"{folder}/bin" for folder in folders if folder] + [os.environ["PATH"]]
    return shutil.which("ptxas", path=os.pathsep.join(path))


if has_cuda():
    config.available_features.add("cuda")
if ptxas := find_ptxas():
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
if has_assembler():
    config.available_features.add("assembler")
# One GPU test at a time: they share the device, and some of them time it.
lit_config.parallelism_groups["cuda"] = 1
