# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What of the dialect and of the torch converter the table covers."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from conformance import table
from conformance.case import Case
from conformance.suite import SHAPES
from conformance.torch_case import TorchCase, operations

# Operations that no entry can have, and what tests them instead.
STRUCTURE = {
    "fusible": "is every program",
    "return": "ends every program",
    "yield": "ends every body",
    "group": "is made by fusion, from every entry",
    "launch": "is made by lowering, from every entry",
    "apply": "test_programs.py: applied fusibles",
    "scaled_matmul": "is made by lowering for CUDA: test/python/fp8/test_scaled_matmul.py",
    "all_reduce": "is not executed yet: test/Dialect/FuseOps/collectives.mlir",
    "all_gather": "is not executed yet: test/Dialect/FuseOps/collectives.mlir",
    "reduce_scatter": "is not executed yet: test/Dialect/FuseOps/collectives.mlir",
}

_WHOLE = "scripts/check_fixtures: it means something within a program only"
_OPINFO = "scripts/check_opinfo"
_TORCH_MLIR = "test/python/torch_mlir/test_operations.py"
_RANDOM = "test_dropout.py and scripts/check_fixtures: it is random"
# Torch operations that no entry has, and what runs them.
ELSEWHERE = {
    "aten.Bool.Tensor": _WHOLE,
    "aten.Float.Tensor": _WHOLE,
    "aten.Int.Tensor": _WHOLE,
    "aten.__getitem__.t": _WHOLE,
    "aten._local_scalar_dense": _WHOLE,
    "aten.item": _WHOLE,
    "aten.tensor.float": _WHOLE,
    "aten.tensor.int": _WHOLE,
    "copy.to_vtensor": _WHOLE,
    "prim.ListUnpack": "split, chunk and unbind, whose import writes it",
    "prim.NumToTensor.Scalar": "forms with numbers, whose import writes it",
    "vtensor.literal": _WHOLE,
    "aten._conj": "torch refuses it for what is not complex",
    "aten._fused_rms_norm_backward": _WHOLE,
    "aten._grouped_mm": _OPINFO,
    "aten._native_batch_norm_legit_no_training": _OPINFO,
    "aten._prelu_kernel_backward": _OPINFO,
    "aten.batch_norm": _OPINFO,
    "aten._reshape_alias": _WHOLE,
    "aten.diagonal_copy": _OPINFO,
    "aten.dropout": _RANDOM,
    "aten.native_dropout": _RANDOM,
    "aten.native_dropout_backward": _RANDOM,
    "aten.rrelu": _RANDOM,
    "aten.rrelu_with_noise": _RANDOM,
    "aten.rrelu_with_noise_backward": _RANDOM,
    "aten.empty.memory_format": "its elements are undefined",
    "aten.new_empty": "its elements are undefined",
    "aten.eye.m": _OPINFO,
    "aten.fill.Tensor": _OPINFO,
    "aten.index.Tensor_hacked_twin": _WHOLE,
    "aten.index_select": _WHOLE,
    "aten.nll_loss2d": _OPINFO,
    "aten.nll_loss2d_backward": _OPINFO,
    "aten.nll_loss2d_forward": _OPINFO,
    "aten.tanhshrink": "torch takes it apart: entry tanhshrink",
    "aten.to.dtype_layout": _WHOLE,
    "aten.zero": _WHOLE,
    "prims.collapse": _WHOLE,
    "prims.scalar_tensor": _WHOLE,
    "prims.squeeze": _WHOLE,
    "prims.var": _WHOLE,
    "aten._cast_Byte": _TORCH_MLIR,
    "aten._cast_Char": _TORCH_MLIR,
    "aten._cast_Double": _TORCH_MLIR,
    "aten._cast_Float": _TORCH_MLIR,
    "aten._cast_Half": _TORCH_MLIR,
    "aten._cast_Int": _TORCH_MLIR,
    "aten._cast_Long": _TORCH_MLIR,
    "aten._cast_Short": _TORCH_MLIR,
    "aten._int_mm": _TORCH_MLIR,
    "aten._safe_softmax": _TORCH_MLIR,
    "aten._scaled_mm": _TORCH_MLIR,
    "aten._weight_norm_interface": _TORCH_MLIR,
    "aten.bilinear": _TORCH_MLIR,
    "aten.broadcast_tensors": _TORCH_MLIR,
    "aten.channel_shuffle": _TORCH_MLIR,
    "aten.column_stack": _TORCH_MLIR,
    "aten.cosine_similarity": _TORCH_MLIR,
    "aten.hstack": _TORCH_MLIR,
    "aten.instance_norm": _TORCH_MLIR,
    "aten.linalg_norm": _TORCH_MLIR,
    "aten.native_group_norm_backward": _TORCH_MLIR,
    "aten.outer": _TORCH_MLIR,
    "aten.pad": _TORCH_MLIR,
    "aten.pixel_shuffle": _TORCH_MLIR,
    "aten.pixel_unshuffle": _TORCH_MLIR,
    "aten.view.dtype": _TORCH_MLIR,
    "prims.prod": _TORCH_MLIR,
    "prims.sum": _TORCH_MLIR,
}


def cases(only: str = "") -> Iterator[tuple[str, str, Case]]:
    """One case of each variant."""
    for op, variants in table.TABLE.items():
        if not op.startswith(only):
            continue
        for name, variant in variants.items():
            shape = next(s for s in SHAPES if variant.takes(s))
            yield op, name, variant.build(shape, variant.dtypes[0])


def missing_operations(mnemonics: Iterator[str]) -> list[str]:
    """Operations of the dialect that have no entry."""
    named = {op.removeprefix("fuseops.") for op in table.TABLE}
    return sorted(set(mnemonics) - named - set(STRUCTURE))


def torch_operations() -> set[str]:
    """The aten operations in the programs of the table."""
    found: set[str] = set()
    for _, _, case in cases("aten."):
        if isinstance(case, TorchCase):
            found |= operations(case.graph)
    return {name.removesuffix(".default") for name in found}


def claimed_operations(fuse_opt: Path) -> set[str]:
    """The torch operations that the converter takes."""
    command = [str(fuse_opt), "--list-torch-ops"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {line.removeprefix("torch.") for line in listed.split()}
