# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a PyTorch module to torch-mlir's IR, without the importer's pitfalls."""

from __future__ import annotations

from typing import Any

import torch

from fuseops.errors import FuseOpsError


def _make_importer(messages: list[str]) -> Any:
    """An importer that keeps literals alive and leaves its diagnostics in `messages`."""
    try:
        from torch_mlir import ir  # noqa: PLC0415 (only who imports needs torch-mlir)
        from torch_mlir.dialects import torch as torch_dialect  # noqa: PLC0415
        from torch_mlir.extras import fx_importer  # noqa: PLC0415
    except ImportError as error:
        raise FuseOpsError(f"cannot import torch-mlir: {error}") from error

    class KeepLiterals(fx_importer.FxImporterHooks):
        """Upstream's importer knows literals by their address, which a temporary one that it
        makes of a mask gives to the next: literals that live on have addresses of their own."""

        def __init__(self) -> None:
            self._kept: list[Any] = []

        def resolve_literal(self, gni: Any, literal: Any, info: Any = None) -> None:
            self._kept.append(literal)

    context = ir.Context()
    torch_dialect.register_dialect(context)

    def collect(diagnostic: Any) -> bool:
        messages.append(f"{diagnostic.location}: {diagnostic.severity.name.lower()}: {diagnostic}")
        return True

    context.attach_diagnostic_handler(collect)
    return fx_importer.FxImporter(context=context, hooks=KeepLiterals())


def export_and_import(
    model: torch.nn.Module | torch.export.ExportedProgram,
    *args: Any,
    dynamic_shapes: Any = None,
    func_name: str = "main",
    strict: bool = False,
    decomposition_table: dict[Any, Any] | None = None,
    import_symbolic_shape_expressions: bool = True,
    **kwargs: Any,
) -> Any:
    """A module, or a program that is exported already, as an MLIR module of torch_mlir.

    Takes what `torch_mlir.fx.export_and_import` takes of these names. The result is what FuseOps
    fuses best: operations as PyTorch has them (`output_type="raw"`), taken apart only by
    `decomposition_table`; by default where PyTorch itself says that they are composite. A function
    that writes an argument returns the argument's new value before its other results.

    Raises FuseOpsError with the importer's diagnostics, and what torch.export raises.
    """
    is_exported = isinstance(model, torch.export.ExportedProgram)
    program = (
        model
        if is_exported
        else torch.export.export(
            model, args, kwargs or None, dynamic_shapes=dynamic_shapes, strict=strict
        )
    )
    program = program.run_decompositions(decomposition_table or {})
    messages: list[str] = []
    importer = _make_importer(messages)
    try:
        importer.import_frozen_program(
            program,
            func_name=func_name,
            import_symbolic_shape_expressions=import_symbolic_shape_expressions,
        )
    except Exception as error:
        diagnostics = "\n".join(messages)
        reason = str(error).strip() or type(error).__name__
        raise FuseOpsError(f"torch-mlir cannot import: {reason}", diagnostics) from error
    return importer.module
