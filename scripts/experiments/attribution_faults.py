"""The real faults of scripts/experiments/attribution-real. They reach PostgreSQL by its own environment variables."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

FAULT_SECONDS = 12
_DELAY = 0.006
"""Seconds, each way."""


class Faults:
    """What can be made slow: the layer that it is in and what makes it slow, for FAULT_SECONDS, by name.

    `data` and `log` are folders on the two disks, `slow` the file of delay_network.
    """

    def __init__(self, data: Path, log: Path, slow: Path) -> None:
        self._disks = {"data": data, "log": log}
        self._slow = slow
        self.layers: Mapping[str, tuple[str, Callable[[], None]]] = {
            "no fault": ("none", lambda: None),
            "CPU hog": ("server_cpu", self._hog),
            "lock": ("database", self._lock),
            "checkpoint": ("database", self._checkpoint),
            "other user of the data device": ("data_device", lambda: self._use("data")),
            "other user of the log device": ("log_device", lambda: self._use("log")),
            "slow network": ("network", self._delay),
        }

    def _hog(self) -> None:
        number = 6 * (os.cpu_count() or 1)
        hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
        time.sleep(FAULT_SECONDS)
        for hog in hogs:
            hog.kill()
            hog.wait()

    def _lock(self) -> None:
        end = time.monotonic() + FAULT_SECONDS
        while time.monotonic() < end:
            _psql("begin; lock table pgbench_branches in access exclusive mode; select pg_sleep(1.5); commit")
            time.sleep(0.5)

    def _checkpoint(self) -> None:
        _psql("checkpoint")

    def _use(self, disk: str) -> None:
        folder = self._disks[disk] / "other"
        folder.mkdir(exist_ok=True)
        how = ["--rw=randrw", "--bs=8k", "--size=64M", "--direct=1", "--ioengine=libaio", "--iodepth=64"]
        command = ["fio", "--name=other", f"--directory={folder}", *how, "--time_based", f"--runtime={FAULT_SECONDS}"]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)

    def _delay(self) -> None:
        self._slow.touch()
        time.sleep(FAULT_SECONDS)
        self._slow.unlink()


def _psql(text: str) -> None:
    command = ["psql", "-q", "-o", os.devnull]
    for statement in text.split(";"):
        command += ["-c", statement]
    subprocess.run(command, check=True)


def delay_network(server: Path, own: Path, slow: Path) -> None:
    """Passes on between `own` and the server's socket, until ended; late, while there is a file `slow`."""

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if slow.exists():
                await asyncio.sleep(_DELAY)
            writer.write(data)
        writer.close()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_unix_connection(server)
        await asyncio.gather(pass_on(reader, back), pass_on(there, writer))

    async def serve() -> None:
        server = await asyncio.start_unix_server(connect, own)
        await server.serve_forever()

    asyncio.run(serve())


def forget_pages(data: Path) -> None:
    """Keeps the database's files out of the page cache, so that it reads from its device."""
    while True:
        for file in data.glob("cluster/base/*/*"):
            try:
                descriptor = os.open(file, os.O_RDONLY)
            except OSError:
                continue
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)
        time.sleep(0.5)
