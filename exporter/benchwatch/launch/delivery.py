"""Sends a run's files to a remote exporter while they are being written.

A thread sends each file in pieces with their offsets (see runs.append), so after an interruption it resumes where it
stopped; it sends the record whenever that changes. An exporter that lost what it had gets everything again. The
benchmark never waits for any of this.

A launcher sends the record first, which takes the name at the exporter. A run that was recorded earlier, or without a
launcher, may partly be there already: its pieces come first, and the exporter refuses them if they differ from its own;
its record follows.
"""

import os
import threading
import time
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import requests

from ..runs.append import LARGEST_PIECE, STREAM, files_of
from ..settings.record import SUFFIX
from ..values.addresses import server_url
from ..values.errors import FAILED, UserError, reason_of
from ..values.web import session
from .child import leave_signals
from .worker_record import RunRecord

_EVERY = 0.5
_RETRY = 2.0
_PATIENCE = (3.05, 30.0)
"""Seconds that a connection and an answer may take."""
_LAST_PATIENCE = 10.0
_BEYOND_ITS_END = 416
"""The status of a piece that begins beyond the end of the exporter's file."""
_AGAIN = (408, 429)
"""Status codes of an exporter that is busy with other pushes: try again."""


class _Refused(Exception):
    """The exporter answered with a refusal, or would do so; `status` is that of HTTP, if it did."""

    def __init__(self, sentence: str, status: int = 0) -> None:
        super().__init__(sentence)
        self.status = status


class _Fault(NamedTuple):
    """Why the last round sent nothing, or not everything."""

    sentence: str
    reason: str
    final: bool = False
    """Whether the exporter refuses the push; otherwise, the next round tries again."""


class Delivery:
    """The delivery of one worker's files to the exporter at `url` (see server_url)."""

    def __init__(self, url: str, record: RunRecord, *, takes_name: bool = True) -> None:
        url = server_url(url, "--push" if takes_name else "URL")
        self._place = f"{url}/ingest/{quote(record.run)}/{quote(record.worker)}"
        self._shown = urlsplit(url).netloc.rpartition("@")[2]
        self._record = record
        self._takes_name = takes_name
        self._session = session(_PATIENCE[1])
        self._session.headers["Accept"] = "application/json"
        self._sent: dict[str, int] = {}  # bytes by the suffix of a file
        self._first_record = b""
        self._record_sent = b""
        self._fault: _Fault | None = None
        self._deadline = inf
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> str:
        """Send the record, then continue in the background.

        Returns a sentence if the exporter cannot be reached now, or replaces a failed start. Raises UserError if the
        exporter refuses the record.
        """
        remark = ""
        try:
            remark = self._send_record()
        except (_Refused, requests.exceptions.SSLError) as error:
            refused = isinstance(error, _Refused)
            why = f"refuses the push: {error}" if refused else f"cannot be reached: {reason_of(error)}"
            raise UserError(f"--push: {self._shown} {why}; nothing was started") from None
        except requests.RequestException as error:
            self._fault = self._fault_of(error)
            remark = self.trouble
        self._thread.start()
        return remark

    def withdraw(self) -> None:
        """Nothing was started: release the name with an empty record."""
        self.end(0.0)
        if self._record_sent:
            self._thread.join(_LAST_PATIENCE)
            with suppress(requests.RequestException, _Refused):
                if not self._thread.is_alive():
                    self._put(self._place + SUFFIX, b"")

    def follow(self) -> None:
        """Send in the background what exists and what is added; `trouble` says if that fails."""
        self._thread.start()

    @property
    def trouble(self) -> str:
        """Why nothing can be delivered now, a sentence; empty if it can."""
        if fault := self._fault:
            return fault.sentence if fault.final else f"{fault.sentence}: retrying"
        return ""

    def deliver(self) -> str:
        """Send everything that exists now; returns a sentence if the exporter refuses it or a file cannot be read.

        Raises UserError if the exporter cannot be reached, or has no place or room now.
        """
        try:
            self._round()
        except requests.HTTPError as error:
            raise UserError(f"{self._shown} cannot take the push now: {reason_of(error)}", FAILED) from None
        except requests.RequestException as error:
            sentence = f"{self._shown} cannot be reached: {reason_of(error)}; is `benchwatch serve` running there?"
            raise UserError(sentence, FAILED) from None
        except (OSError, _Refused) as error:
            return self._fault_of(error).sentence
        return ""

    def end(self, patience: float) -> None:
        """Nothing will be added: give up after so many seconds."""
        self._deadline = time.monotonic() + patience
        self._ending.set()

    def finish(self) -> str:
        """Send the rest within a few seconds; returns a sentence if something was not delivered."""
        if not self._ending.is_set():
            self.end(_LAST_PATIENCE)
        self._thread.join(max(0.0, self._deadline - time.monotonic()) + 1)
        fault = self._fault
        missing = sum(max(0, _size(file) - self._sent.get(suffix, 0)) for suffix, file in self._files().items())
        with suppress(OSError):  # the record cannot be read: the reason says so
            if not (missing or (fault and fault.final) or self._changed_record()):
                return ""
        reason = fault.reason if fault else "out of time"
        return f"{missing} bytes were not delivered to {self._shown}: {reason}; they are in {self._record.folder}"

    def _run(self) -> None:
        leave_signals()
        while time.monotonic() < self._deadline:
            ending = self._ending.is_set()
            try:
                self._round()
                self._fault = None
            except (OSError, _Refused) as error:
                self._fault = self._fault_of(error)
            if self._fault.final if self._fault else ending:
                return
            if ending:
                time.sleep(_EVERY)
            else:
                self._ending.wait(_RETRY if self._fault else _EVERY)

    def _fault_of(self, error: Exception) -> _Fault:
        if isinstance(error, _Refused):
            return _Fault(f"{self._shown} refuses the push: {error}", str(error), final=True)
        if isinstance(error, requests.RequestException):
            cannot = "take the push" if isinstance(error, requests.HTTPError) else "be reached"
            return _Fault(f"{self._shown} cannot {cannot} now ({reason_of(error)})", reason_of(error))
        sentence = f"{getattr(error, 'filename', '')} cannot be read: {getattr(error, 'strerror', error)}"
        return _Fault(sentence, sentence)

    def _round(self) -> None:
        """Send everything that is new. Raises RequestException, another OSError and _Refused."""
        if self._takes_name and not self._record_sent:
            self._send_record()
        for suffix, file in self._files().items():
            while time.monotonic() < self._deadline and self._send_piece(suffix, file):
                pass
        self._send_record()

    def _files(self) -> dict[str, Path]:
        """The worker's files by suffix (that of a log is `<pid>[.<thread>]`); no pipes, which would be waited for.

        Output precedes logs: an exporter that has another run of this name refuses its output before it gets a log.
        """
        start = len(self._record.worker) + 1
        files = reversed(files_of(self._record.folder, self._record.worker))
        return {
            file.name[start:]: file
            for file in files
            if STREAM.fullmatch(file.name, start) and (file.is_file() or file.is_dir())
        }

    def _send_record(self) -> str:
        """Send the current record, but the first version until that is acknowledged: the exporter may have it already.

        Returns a sentence if it replaces a start that failed.
        """
        replaced = ""
        if not self._record_sent and not self._sent:
            self._first_record = self._first_record or self._changed_record()
            if not self._first_record:
                return ""
            replaced = self._put(self._place + SUFFIX, self._first_record, headers={"If-None-Match": "*"})
            self._record_sent = self._first_record
        if content := self._changed_record():
            self._put(self._place + SUFFIX, content)
            self._record_sent = content
        if not replaced:
            return ""
        name = f"{self._record.run}/{self._record.worker}"
        return f"{self._shown}: {name} replaces a start that failed before anything was measured ({replaced})"

    def _changed_record(self) -> bytes:
        """The current record if it differs from what was sent; empty if not, or if it was removed. Raises OSError."""
        path = self._record.path
        try:
            content = path.read_bytes() if path.is_file() else b""
        except FileNotFoundError:
            content = b""
        return content if content != self._record_sent else b""

    def _send_piece(self, suffix: str, path: Path) -> bool:
        """Send the new part of a file, at most one piece; returns whether it was a full piece."""
        offset = self._sent.get(suffix, 0)
        with path.open("rb", buffering=0) as file:
            if file.seek(0, os.SEEK_END) < offset:
                raise _Refused(
                    f"{path.parent.name}/{path.name} now belongs to another run: push that under another name"
                )
            file.seek(offset)
            data = file.read(LARGEST_PIECE) or b""
        try:
            if data:
                self._put(self._place, data, params={"stream": suffix, "offset": str(offset)})
                self._sent[suffix] = offset + len(data)
        except _Refused as refusal:
            if refusal.status != _BEYOND_ITS_END:
                raise
            self._sent, self._record_sent = {}, b""  # the exporter lost what it had
            return False
        return len(data) == LARGEST_PIECE

    def _put(self, url: str, data: bytes, **more: Any) -> str:
        """Send these bytes; returns why the start failed that they replace, empty if they replace none."""
        answer = self._session.put(url, data=data, timeout=_PATIENCE, allow_redirects=False, **more)
        try:
            found = answer.json()
        except (ValueError, RecursionError):
            found = None
        said = {name: str(text)[:300] for name, text in found.items()} if isinstance(found, dict) else {}
        if answer.status_code == requests.codes.ok:
            return said.get("replaced", "")
        page = "html" in answer.headers.get("Content-Type", "")  # of another server
        sentence = said.get("error") or ("" if page else answer.text.strip()[:300])
        sentence = sentence or f"{answer.status_code} {answer.reason}"
        if answer.status_code >= 500 or answer.status_code in _AGAIN:
            raise requests.HTTPError(sentence)
        raise _Refused(sentence, answer.status_code)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
