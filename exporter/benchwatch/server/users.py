"""Users by HTTP basic authentication (RFC 7617) against bcrypt hashes.

bcrypt is slow on purpose: it runs in a thread, one password at a time. Correct passwords are remembered permanently, as
keyed digests, so that a scrape pays only once; of wrong ones, the most recent are remembered. Few passwords can wait
for their check, and even fewer from one address. The check takes as long for an unknown user as for a known one.
"""

import asyncio
import hashlib
import os
from collections import Counter, OrderedDict
from collections.abc import Mapping

from aiohttp import BasicAuth

_WRONG_REMEMBERED = 1000
_LONGEST = 72
"""bcrypt ignores further bytes of a password."""
_CHECKS = 16
"""Maximum of passwords that are being checked or wait for it."""
_CHECKS_OF_ONE_ADDRESS = 4


class TooManyChecks(Exception):
    """The password was not checked, because too many others are waiting."""


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
        self._wrong: OrderedDict[bytes, None] = OrderedDict()
        self._checks: dict[bytes, asyncio.Task[bool]] = {}
        self._addresses: Counter[str] = Counter()
        self._one_at_a_time = asyncio.Lock()

    async def admitted(self, authorization: str | None, address: str = "") -> str:
        """The user whose name and password an Authorization header contains; empty if they are wrong.

        `address` is the client's. Raises TooManyChecks.
        """
        try:
            given = BasicAuth.decode(authorization or "", "utf-8")
        except ValueError:
            return ""
        name: str = given.login
        user, password = name.encode(), given.password.encode()[:_LONGEST]
        seal = hashlib.blake2b(user + b":" + password, key=self._key).digest()
        if seal in self._wrong:
            self._wrong.move_to_end(seal)
            return ""
        if seal not in self._right:
            if seal not in self._checks:
                if len(self._checks) >= _CHECKS or self._addresses[address] >= _CHECKS_OF_ONE_ADDRESS:
                    raise TooManyChecks
                self._addresses[address] += 1
                self._checks[seal] = asyncio.create_task(self._remember(seal, user, password, address))
            if not await asyncio.shield(self._checks[seal]):
                return ""
        return name

    async def _remember(self, seal: bytes, user: bytes, password: bytes, address: str) -> bool:
        try:
            async with self._one_at_a_time:
                right = await asyncio.to_thread(self._verify, user, password)
        finally:
            del self._checks[seal]
            self._addresses[address] -= 1
            self._addresses += Counter()  # drops addresses at zero
        if right:
            self._right.add(seal)
        else:
            self._wrong[seal] = None
            if len(self._wrong) > _WRONG_REMEMBERED:
                self._wrong.popitem(last=False)
        return right

    def _verify(self, user: bytes, password: bytes) -> bool:
        try:
            matches = self._check(password, self._hashes.get(user, self._stand_in))
        except ValueError:
            return False
        return matches and user in self._hashes


def _cost(digest: bytes) -> bytes:
    return digest.split(b"$")[2]
