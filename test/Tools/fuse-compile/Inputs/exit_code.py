# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`exit_code.py CODE COMMAND…`: runs the command, succeeds if it exits so."""

import subprocess
import sys

code = subprocess.run(sys.argv[2:], check=False).returncode
if code != int(sys.argv[1]):
    sys.exit(f"expected exit code {sys.argv[1]}, but got {code}")
