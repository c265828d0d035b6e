"""Which jobs a document reports, and under which labels."""

from collections import Counter

from .document import Document, Job
from .options import job_options, number_of_clones


def reported_jobs(document: Document) -> list[Job]:
    """The jobs as they stand at the time of the document.

    Of a client's document these are the last entries of each job of each host: one, or as many as it has clones that
    are reported one by one (then the runtime of an entry is not the sum over the clones).
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
    """The label of each job: its name, with `#groupid` where the name occurs in several groups.

    In client mode the host's name stands before it, with the port where a host's name has several. Clones of a job have
    the same label.
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
    return texts
