"""Kinds of values on the command line, for argparse's `type=`."""

import argparse

from .durations import Duration


def duration(text: str) -> Duration:
    """A length of time: seconds (60, 0.5) or a number with a unit (1ms, 5m)."""
    try:
        return Duration.read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def pair(text: str) -> tuple[str, str]:
    """NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    return name, value


def count(text: str) -> int:
    """A whole number above 0."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, got {text!r}")
    return int(text)
