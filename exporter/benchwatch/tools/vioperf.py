"""vioperf of Vertica, known from one published run of 2020 and the vendor's page of its options.

    The minimum required I/O is 20 MB/s read and write per physical processor core on each node, ...
    Using direct io (buffer size=1048576, alignment=512) for directory "/home"
    test      | directory | counter name         | counter value | counter value (10 sec avg) | counter value/core |
        counter value/core (10 sec avg) | thread count | %CPU | %IO Wait | elapsed time (s)| remaining time (s)
    Write     | /home     | MB/s                 | 1611    | 1612    | 201.375 | 201.5 | 8 | 67 | 32 | 75 | 0
    ReWrite   | /home     | (MB-read+MB-write)/s | 336+336 | 336+336 | 42+42   | 42+42 | 8 | 14 | 78 | 10 | 65
    SkipRead  | /home     | seeks/s              | 1768    | 1696    | 221     | 212   | 8 | 0  | 62 | 40 | 35

While it runs, only the mean of the last 10 s is taken; the other value looks like the mean since the test's start, and
the last one of each test is its result. Times are those of one test, and tests follow each other; the run is over once
SkipRead, the last one by the vendor's list, has no time left. MB are 2^20 bytes, as in vnetperf of the same package,
whose rows have the bytes too. Everything else counts as not understood.
"""

import re
from collections.abc import Sequence

from .kit import Families, Key, KitParser, Record, TextTool, ToolFigure, ToolReport, ToolResult
from .kit.options import Options
from .roles import Unit

FAMILIES = Families(
    "vioperf",
    {  # help; name of the gauges, name of the counter
        "bandwidth": ToolFigure(
            "Bytes read or written, mean of 10 s", "bandwidth_bytes_per_second", labels=("test", "op"), rate=True
        ),
        "seeks": ToolFigure(
            "Reads of blocks that do not follow each other, mean of 10 s",
            "seeks_per_second",
            labels=("test",),
            rate=True,
        ),
        "threads": ToolFigure("Threads (thread count)", live="threads"),
    },
)
OPS = {"Write": ("write",), "Read": ("read",), "ReWrite": ("read", "write")}
"""What the numbers of a test's row are, in order."""
COLUMNS, MB = 12, 1 << 20
NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,6})?")


class Rows(KitParser):
    """Reads the rows of the table."""

    def begin(self) -> None:
        """See KitParser."""
        super().begin()
        self._test = ""
        self._before = 0.0  # seconds that the earlier tests took
        self._ends = 0.0  # when this test ends
        self._means: dict[Key, float] = {}

    def line(self, text: str) -> Sequence[Record] | None:
        """See KitParser."""
        cells = [cell.strip() for cell in text.split("|")]
        if len(cells) != COLUMNS or not all(map(NUMBER.fullmatch, (cells[7], *cells[10:]))):
            return None
        test, counter = cells[0], cells[2]
        elapsed, remaining = map(float, cells[10:])
        means, figures = self._figures(test, counter, cells[3]), self._figures(test, counter, cells[4])
        if not figures or not means:
            return None
        if test != self._test:
            self._test, self._before = test, self._ends
        self._ends = self._before + elapsed + remaining
        self._means |= means
        report = ToolReport(self._before + elapsed, {**figures, ("threads",): float(cells[7])})
        is_over = test == "SkipRead" and not remaining
        return [report, ToolResult(self._means, self._ends)] if is_over else [report]

    def _figures(self, test: str, counter: str, cell: str) -> dict[Key, float]:
        """Those in one cell; none if it is not of a known form."""
        numbers = cell.split("+")
        if not all(map(NUMBER.fullmatch, numbers)):
            return {}
        if (test, counter, len(numbers)) == ("SkipRead", "seeks/s", 1):
            return {("seeks", test): float(numbers[0])}
        ops = OPS.get(test, ())
        if "MB" not in counter or len(ops) != len(numbers):
            return {}
        return {("bandwidth", test, op): float(number) * MB for op, number in zip(ops, numbers, strict=True)}


VIOPERF = TextTool(
    name="vioperf",
    families=FAMILIES,
    roles=[
        FAMILIES.roles(Unit("B/s", in_bytes=True), "operations", {"rate": "bandwidth"}, labels=("test", "op")),
        FAMILIES.roles(Unit("seeks/s"), "seeks", {"rate": "seeks"}, labels=("test",)),
    ],
    banner=r"The minimum required I/O is \d+ MB/s read and write per physical processor core",
    begins=r"The minimum required I/O is \d+ MB/s read and write|test +\| directory +\| counter name +\| "
    r"|(?:Write|ReWrite|Read|SkipRead) +\| \S+ +\| (?:MB/s|\(MB-read\+MB-write\)/s|seeks/s) *\| ",
    settings={"directory": r'Using direct io \(.*\) for directory "([^"]{1,4096})"'},
    known=r"test +\| directory +\| counter name|-+$|$",
    like=r"(?:Write|ReWrite|Read|SkipRead) +\|",
    parser=Rows,
).tool(
    advice="it reports each 10 s:",
    example="vioperf --thread-count=8 --duration=120s /data",
    launcher=Options(recorded={"--thread-count": "threads", "--duration": "duration"}, length="--duration"),
)
