"""``python -m webtensor``, which is the command ``webtensor``."""

import sys

from webtensor.convert.command import main

if __name__ == "__main__":
    sys.exit(main())
