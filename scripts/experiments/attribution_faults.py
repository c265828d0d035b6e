"""The real faults of scripts/experiments/attribution-real. They reach PostgreSQL by its own environment variables."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

FAULT_SECONDS = 12
_DELAY = 0.006
"""Seconds, each way."""


class Fault(NamedTuple):
    """What makes something slow for FAULT_SECONDS, and the layer that this is."""

    name: str
    layer: str
    inject: Callable[[], None]


class Faults:
    """What can be made slow, by a word for it.

    `data` and `log` are folders on the two disks, `slow` the file of delay_network; `server` and `client` are the
    processors of the two machines, as taskset has them.
    """

    def __init__(self, data: Path, log: Path, slow: Path, server: str, client: str) -> None:
        self._disks = {"data": data, "log": log}
        self._slow = slow
        self._server = server
        self.known: Mapping[str, Fault] = {
            "none": Fault("no fault", "none", lambda: None),
            "hog": Fault("CPU hog on the server", "server_cpu", lambda: self._hog(server)),
            "client": Fault("CPU hog on the client", "client_cpu", lambda: self._hog(client)),
            "lock": Fault("lock", "database", self._lock),
            "checkpoint": Fault("checkpoint", "database", self._checkpoint),
            "data": Fault("other user of the data device", "data_device", lambda: self._use("data")),
            "log": Fault("other user of the log device", "log_device", lambda: self._use("log")),
            "network": Fault("slow network", "network", self._delay),
        }

    def _hog(self, processors: str) -> None:
        allowed = processors.partition("-")
        number = 20 * (int(allowed[2] or allowed[0]) - int(allowed[0]) + 1)
        busy = ["taskset", "-c", processors, sys.executable, "-c", "while True: pass"]
        hogs = [subprocess.Popen(busy) for _ in range(number)]
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
        command = ["taskset", "-c", self._server, *command]
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
