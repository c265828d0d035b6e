"""The entry of the command `benchwatch`, and of `python -m benchwatch`: Ctrl-C ends it quietly from here on."""

import sys


def entry() -> int:
    """Run one command; its exit code."""
    try:
        from .cli import main  # within, because it takes a while

        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(entry())
