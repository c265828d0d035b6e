"""The errors that end a command: each message says what, where and what was expected."""

import reprlib

_SHORT = reprlib.Repr()
_SHORT.maxlevel = 2
_SHORT.maxdict = _SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = 3
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


class ConfigError(ValueError):
    """A configuration file or option that cannot be used."""


def excerpt(value: object) -> str:
    """A value as a message shows it: one line of printable text, cut where it is made."""
    return _SHORT.repr(value)
