"""Which jobs a document reports, under which labels and with which options."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice

from .document import FioDocument, Job
from .options import number_of_clones

MOST_JOBS = 256
"""Jobs with a label of their own; the others are added up under OTHER_JOBS."""
OTHER_JOBS = "(other jobs)"
MOST_OPTIONS = 2000
"""Options that are shown as parameters, of all jobs together."""


def reported_jobs(document: FioDocument) -> list[Job]:
    """The jobs at the time of the document, with their labels and options.

    A client's document lists every interval. Its last entries of each job of each host count: one entry, or one for
    each clone if fio reports them one by one (then the runtime of an entry is not the sum over the clones).
    """
    jobs, shared = _last_entries(document) if document.of_clients else document.jobs, document.shared_options
    for job, label in zip(jobs, _labels(jobs), strict=True):
        job.label, job.options = label, {**shared, **job.own_options}
    return jobs


def _last_entries(document: FioDocument) -> list[Job]:
    entries: dict[tuple[str, int, str, int], list[Job]] = {}
    for job in document.client_stats:
        if job.jobname != "All clients":
            entries.setdefault((job.hostname, job.port, job.jobname, job.groupid), []).append(job)
    jobs: list[Job] = []
    for found in entries.values():
        last = found[-1]
        grouped = last.job_runtime > 1.5 * last.runtime
        clones = 1 if grouped else number_of_clones({**document.shared_options, **last.own_options})
        jobs += found[-clones:]
    return jobs


def _labels(jobs: list[Job]) -> list[str]:
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


def parameters(document: FioDocument, jobs: Sequence[Job]) -> dict[str, str]:
    """The options of all jobs and of each job; the names of the latter follow the job's label if there are several."""
    found = dict(document.shared_options)
    one = len({job.label for job in jobs}) == 1
    for job in jobs:
        if job.label != OTHER_JOBS:
            for name, value in job.own_options.items():
                found[name if one else f"{job.label}/{name}"] = value
    return dict(islice(found.items(), MOST_OPTIONS))
