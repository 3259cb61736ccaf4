"""`python -m clew.cli`."""

from __future__ import annotations

import sys

from clew.cli import main

sys.exit(main())
