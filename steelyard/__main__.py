"""Run the command line: `steelyard` or `python -m steelyard`."""

import sys

from steelyard.commands import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
