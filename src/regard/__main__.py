"""`python -m regard`: the command, where it is not on the path."""

import sys

from regard.cli import main

sys.exit(main())
