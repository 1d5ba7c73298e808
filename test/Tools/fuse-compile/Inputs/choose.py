# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies a file of schedules and gives every kernel one schedule."""

import json
import sys
from pathlib import Path

source, target, schedule = sys.argv[1:]
file = json.loads(Path(source).read_text())
for entry in file["kernels"]:
    entry["schedule"] = json.loads(schedule)
Path(target).write_text(json.dumps(file))
