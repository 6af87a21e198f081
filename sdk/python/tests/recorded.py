"""What the TypeScript library did, as infra/e2e records it for a test."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def read_recorded() -> Any:
    return json.loads(Path(os.environ["AGENTGYM_TEST_RECORDED"]).read_text())
