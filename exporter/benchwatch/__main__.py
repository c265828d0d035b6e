"""The entry point of `benchwatch` and `python -m benchwatch`. Ctrl-C ends it quietly from here on."""

import sys


def entry() -> int:
    """Run one command; its exit code."""
    try:
        from .values.interrupts import end_at_once

        end_at_once()
        from .cli import main  # only now, because it takes a while

        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(entry())
