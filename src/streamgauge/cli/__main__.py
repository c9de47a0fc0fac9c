"""`python -m streamgauge.cli` is the command `streamgauge`."""

import sys

from streamgauge.cli import main

if __name__ == "__main__":
    sys.exit(main())
