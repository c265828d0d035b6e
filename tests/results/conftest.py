from collections.abc import Callable

import pytest

from benchwatch.cli import main

Show = Callable[..., tuple[int, str, str]]


@pytest.fixture
def show(capsys: pytest.CaptureFixture[str]) -> Show:
    """`benchwatch show` with these arguments: its exit code and what it prints."""

    def show(*arguments: object) -> tuple[int, str, str]:
        code = main(["show", *map(str, arguments)])
        return (code, *capsys.readouterr())

    return show
