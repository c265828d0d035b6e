"""Which jobs a document reports, and under which labels."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice

from .document import FioDocument, Job
from .options import job_options, number_of_clones, read_options

MOST_JOBS = 256
"""Jobs with a label of their own; the others are added up under OTHER_JOBS."""
OTHER_JOBS = "(other jobs)"
MOST_OPTIONS = 2000
"""Options that are shown as parameters, of all jobs together."""


def reported_jobs(document: FioDocument) -> list[Job]:
    """The jobs at the time of the document.

    A client's document lists every interval. Its last entries of each job of each host count: one entry, or one for
    each clone if fio reports them one by one (then the runtime of an entry is not the sum over the clones).
    """
    if not document.of_clients:
        return document.jobs
    entries: dict[tuple[str, int, str, int], list[Job]] = {}
    for job in document.client_stats:
        if job.jobname != "All clients":
            entries.setdefault((job.hostname, job.port, job.jobname, job.groupid), []).append(job)
    jobs: list[Job] = []
    for found in entries.values():
        last = found[-1]
        grouped = last.job_runtime > 1.5 * last.runtime
        clones = 1 if grouped else number_of_clones(job_options(document.global_options, last.options))
        jobs += found[-clones:]
    return jobs


def labels(jobs: list[Job]) -> list[str]:
    """The label of each job: its name, with `#groupid` if several groups have a job of this name.

    In client mode the host's name precedes it, with the port if several fio servers have the same host's name. Clones
    of a job share a label, as do all jobs after the first MOST_JOBS labels.
    """
    groups = Counter(name for name, _ in {(job.jobname, job.groupid) for job in jobs})
    ports = Counter(name for name, _ in {(job.hostname, job.port) for job in jobs})
    texts = []
    for job in jobs:
        text = f"{job.jobname}#{job.groupid}" if groups[job.jobname] > 1 else job.jobname
        if job.hostname:
            host = f"{job.hostname}:{job.port}" if ports[job.hostname] > 1 else job.hostname
            text = f"{host}/{text}"
        texts.append(text)
    known = dict.fromkeys(texts)
    if len(known) > MOST_JOBS:
        kept = set(islice(known, MOST_JOBS))
        texts = [text if text in kept else OTHER_JOBS for text in texts]
    return texts


def parameters(document: FioDocument, jobs: Sequence[Job], names: Sequence[str]) -> dict[str, str]:
    """The options of all jobs and of each job; the names of the latter follow the job's label if there are several."""
    found = dict(read_options(document.global_options))
    one = len(set(names)) == 1
    for job, label in zip(jobs, names, strict=True):
        if label != OTHER_JOBS:
            for name, value in read_options(job.options).items():
                found[name if one else f"{label}/{name}"] = value
    return dict(islice(found.items(), MOST_OPTIONS))
