# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What goes wrong, as one exception."""

from __future__ import annotations

from pathlib import Path


class FuseOpsError(RuntimeError):
    """The compiler or the runtime refused something.

    Of a failed compilation, `diagnostics` holds the compiler's lines,
    `reproducer` the file with the source, and `command` what repeats it. Of all
    else, `diagnostics` is the message.
    """

    def __init__(
        self,
        message: str,
        diagnostics: str = "",
        reproducer: Path | None = None,
        command: str = "",
    ) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics or message
        self.reproducer = reproducer
        self.command = command
