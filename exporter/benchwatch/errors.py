"""The errors that end a command: each message says what, where and what was expected."""


class ConfigError(ValueError):
    """A configuration file or option that cannot be used."""
