"""The error that ends a command: its message says what is wrong, where, and what was expected."""

import reprlib

_SHORT = reprlib.Repr()
_SHORT.maxlevel = 2
_SHORT.maxdict = _SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = 3
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60

FAILED = 1
"""Exit code: the command failed."""
WRONG_USE = 2
"""Exit code: wrong use or configuration."""
NOT_MET = 3
"""Exit code: the command succeeded, but a requirement is not met."""
NOT_RECORDED = 4
"""Exit code: the benchmark succeeded, but not all of it could be brought into its run."""
EXIT_CODES = {
    0: "done",
    1: "failed: nothing recognised, no answer from a server, runs not comparable, or output not written",
    2: "wrong use: an option, path or configuration cannot be used; nothing was started or written",
    3: "a requirement is not met, or a comparison is worse (--require, --fail-on)",
    4: "the benchmark succeeded, but not all that it wrote could be brought into the run's folder",
    130: "ended by Ctrl-C; 128 plus the number of any other signal that ended the command",
}
"""The meaning of exit codes; `benchwatch run` ends with the exit code of the benchmark."""


class UserError(ValueError):
    """Ends a command with a message on stderr and an exit code; `advice` follows the message on lines of its own."""

    def __init__(self, message: str, exit_code: int = WRONG_USE, advice: str = "") -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.advice = advice


class ConfigError(UserError):
    """A configuration file or option that cannot be used."""


def root_cause(error: BaseException) -> BaseException:
    """The first of the errors that led to this one."""
    while isinstance(inner := error.__cause__ or error.__context__ or getattr(error, "reason", None), BaseException):
        error = inner
    return error


def reason_of(error: BaseException) -> str:
    """The root cause of a failed request as a clause."""
    cause = root_cause(error)
    return " ".join(str(getattr(cause, "strerror", None) or cause).split())[:200] or type(cause).__name__


def excerpt(value: object) -> str:
    """A value for a message: one short line of printable text."""
    return _SHORT.repr(value)
