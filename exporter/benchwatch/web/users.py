"""Users by HTTP basic authentication (RFC 7617) against bcrypt hashes.

bcrypt is slow on purpose: it runs in a thread, one password at a time however many are tried, and what it said of
a user and password is remembered (as a keyed digest), so that a scrape does not pay for it each time. An unknown user
takes as long as a known one.
"""

import asyncio
import base64
import binascii
import hashlib
import os
from collections import OrderedDict
from collections.abc import Mapping

_REMEMBERED = 100
_LONGEST = 72
"""bcrypt looks at no more bytes of a password."""


class Users:
    """Those who may come in: bcrypt hashes by user, at least one."""

    def __init__(self, hashes: Mapping[str, str]) -> None:
        import bcrypt  # only those who use it pay for it

        self._check = bcrypt.checkpw
        self._hashes = {user.encode(): digest.encode() for user, digest in hashes.items()}
        self._stand_in = max(self._hashes.values(), key=_cost)
        self._key = os.urandom(32)
        self._remembered: OrderedDict[bytes, bool] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()

    async def admitted(self, authorization: str | None) -> str:
        """The user whose name and password an Authorization header gives; empty if they are not right."""
        user, password = _credentials(authorization)
        if not user:
            return ""
        seal = hashlib.blake2b(user + b":" + password, key=self._key).digest()
        known = self._remembered.get(seal)
        if known is None:
            async with self._one_at_a_time:
                known = self._remembered.get(seal)  # others may have waited with the same
                if known is None:
                    known = await asyncio.to_thread(self._verify, user, password)
        self._remembered[seal] = known
        self._remembered.move_to_end(seal)
        if len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)
        return user.decode("utf-8", "replace") if known else ""

    def _verify(self, user: bytes, password: bytes) -> bool:
        try:
            matches = self._check(password[:_LONGEST], self._hashes.get(user, self._stand_in))
        except ValueError:
            return False
        return matches and user in self._hashes


def _cost(digest: bytes) -> bytes:
    return digest.split(b"$")[2]


def _credentials(authorization: str | None) -> tuple[bytes, bytes]:
    scheme, _, encoded = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return b"", b""
    try:
        user, _, password = base64.b64decode(encoded.strip(), validate=True).partition(b":")
    except (binascii.Error, ValueError):
        return b"", b""
    return user, password
