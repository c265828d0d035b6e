"""`python -m benchwatch` is the command `benchwatch`."""

import sys

from .cli import main

sys.exit(main())
