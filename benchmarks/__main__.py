"""`python -m benchmarks recall | topics | tokens --data FILE`: how good the memory is, on published data sets."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # as for every script of this folder that is run by its name

from quality.main import main

if __name__ == "__main__":
    main()
