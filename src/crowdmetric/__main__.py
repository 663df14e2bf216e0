"""``python -m crowdmetric``: the same as ``crowdmetric``."""

import sys

from crowdmetric.cli import main

if __name__ == "__main__":
    sys.exit(main())
