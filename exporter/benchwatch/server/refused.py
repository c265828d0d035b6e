"""A push that is refused, or cut short."""


class Refused(Exception):
    """The HTTP status, a sentence for the client, and fields that a program needs beside it."""

    def __init__(self, status: int, sentence: str, **fields: str | int) -> None:
        super().__init__(sentence)
        self.status = status
        self.fields = fields
