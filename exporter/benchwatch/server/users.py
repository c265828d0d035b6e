"""Users by HTTP basic authentication (RFC 7617) against bcrypt hashes.

bcrypt is slow on purpose: it runs in a thread, one password at a time. Correct passwords are remembered permanently, as
keyed digests, so that a scrape pays only once; of wrong ones, the last thousand. The check takes as long for an unknown
user as for a known one.
"""

import asyncio
import hashlib
import os
from collections.abc import Mapping

from aiohttp import BasicAuth

_WRONG_REMEMBERED = 1000
_LONGEST = 72
"""bcrypt ignores further bytes of a password."""


class Users:
    """The users: bcrypt hashes by name, at least one."""

    def __init__(self, hashes: Mapping[str, str]) -> None:
        import bcrypt  # imported only where users are configured

        self._check = bcrypt.checkpw
        self.hashes = hashes
        self._hashes = {user.encode(): digest.encode() for user, digest in hashes.items()}
        self._stand_in = max(self._hashes.values(), key=_cost)
        self._key = os.urandom(32)
        self._right: set[bytes] = set()
        self._wrong: dict[bytes, None] = {}
        self._one_at_a_time = asyncio.Lock()

    async def admitted(self, authorization: str | None) -> str:
        """The user whose name and password an Authorization header contains; empty if they are wrong."""
        try:
            given = BasicAuth.decode(authorization or "", "utf-8")
        except ValueError:
            return ""
        name: str = given.login
        user, password = name.encode(), given.password.encode()[:_LONGEST]
        seal = hashlib.blake2b(user + b":" + password, key=self._key).digest()
        if not self._knows(seal):
            async with self._one_at_a_time:
                if not self._knows(seal):  # another request with it may have waited too
                    self._remember(seal, await asyncio.to_thread(self._verify, user, password))
        return name if seal in self._right else ""

    def _knows(self, seal: bytes) -> bool:
        return seal in self._right or seal in self._wrong

    def _remember(self, seal: bytes, right: bool) -> None:
        if right:
            self._right.add(seal)
            return
        self._wrong[seal] = None
        if len(self._wrong) > _WRONG_REMEMBERED:
            del self._wrong[next(iter(self._wrong))]

    def _verify(self, user: bytes, password: bytes) -> bool:
        try:
            matches = self._check(password, self._hashes.get(user, self._stand_in))
        except ValueError:
            return False
        return matches and user in self._hashes


def _cost(digest: bytes) -> bytes:
    return digest.split(b"$")[2]
