from pathlib import Path

import pytest

from benchwatch.tools import invocation
from benchwatch.tools.invocation import Benchmark, recordable, without_passwords
from benchwatch.values.errors import UserError


def find_benchmark(command: list[str]) -> Benchmark:
    return invocation.find_benchmark(command, {"pgbench", "fio"})


@pytest.mark.parametrize(
    ("command", "wrapper", "tool"),
    [
        ("pgbench -U pgbench pgbench", "", "pgbench"),
        ("/usr/lib/postgresql/15/bin/pgbench -S", "", "pgbench"),
        ("fio job.fio", "", "fio"),
        ("sudo -u postgres pgbench -S", "sudo -u postgres", "pgbench"),
        ("sudo -u pgbench pgbench -S", "sudo -u pgbench", "pgbench"),
        ("env PGOPTIONS=x numactl -N 0 pgbench -c 1 pgbench", "env PGOPTIONS=x numactl -N 0", "pgbench"),
        ("taskset -c 0 fio --name=pgbench --filename=fio", "taskset -c 0", "fio"),
        ("ssh fio /usr/bin/pgbench -S", "ssh fio", "pgbench"),
        ("ssh fio build/pgbench -S", "ssh fio", "pgbench"),
        ("ssh db /nowhere/pgbench -c 10 pgbench", "ssh db", "pgbench"),
        ("sudo fio --output=res.json --directory=/mnt/fio --name=x --runtime=60", "sudo", "fio"),
        ("sudo -u postgres pgbench -c 10 postgresql://h/pgbench", "sudo -u postgres", "pgbench"),
        ("kubectl exec fio -- fio job.fio", "kubectl exec fio --", "fio"),
        ("kubectl exec -n pgbench pod -- pgbench pgbench", "kubectl exec -n pgbench pod --", "pgbench"),
        ("kubectl exec deploy/pgbench -- pgbench", "kubectl exec deploy/pgbench --", "pgbench"),
        ("docker run --rm xridge/fio fio job.fio", "docker run --rm xridge/fio", "fio"),
        ("docker run --rm xridge/fio job.fio", "docker run --rm", "fio"),
        ("docker run --name fio xridge/fio job.fio", "docker run --name fio", "fio"),
        ("docker run -v /data/fio:/data/fio img fio job.fio", "docker run -v /data/fio:/data/fio img", "fio"),
        ("docker run -w /data/fio img fio job.fio", "docker run -w /data/fio img", "fio"),
        ("env PGDATABASE=pgbench timeout 600 pgbench", "env PGDATABASE=pgbench timeout 600", "pgbench"),
        ("stdbuf -oL nice -n 5 fio job.fio", "stdbuf -oL nice -n 5", "fio"),
        ("perf stat -- pgbench -S", "perf stat --", "pgbench"),
        ("strace -f -o fio fio job.fio", "strace -f -o fio", "fio"),
    ],
)
def test_the_tool_is_found_behind_wrappers(command: str, wrapper: str, tool: str) -> None:
    found = find_benchmark(command.split())
    assert found.wrapper == tuple(wrapper.split())
    assert found.tool == tool
    assert found.command == command.split()


def test_a_folder_is_not_the_tool_and_a_program_here_is(tmp_path: Path) -> None:
    folder, program = tmp_path / "fio", tmp_path / "pgbench"
    folder.mkdir()
    program.touch(mode=0o755)
    assert find_benchmark(["chroot", str(folder), "fio", "job.fio"]).wrapper == ("chroot", str(folder))
    assert find_benchmark(["sudo", "fio", str(folder)]).program == "fio"
    assert find_benchmark(["sudo", "-E", str(program), "-c", "1", "pgbench"]).program == str(program)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("sysbench run", "expected a command with the word fio or pgbench"),
        ("sh benchmark.sh", "expected a command with the word fio or pgbench"),
        ("", "'nothing' is no benchmark"),
        ("ssh fio pgbench -S", "which of 'fio' and 'pgbench' is the benchmark?"),
        ("sudo pgbench pgbench", "which of 'pgbench' and 'pgbench' is the benchmark?"),
    ],
)
def test_a_command_without_a_clear_benchmark_is_refused(command: str, sentence: str) -> None:
    with pytest.raises(UserError, match="(?s).*" + sentence.replace("?", r"\?")):
        find_benchmark(command.split())


def test_wrappers_tell_other_machines_and_other_users() -> None:
    def wrapped(text: str) -> Benchmark:
        return find_benchmark([*text.split(), "pgbench"])

    assert wrapped("ssh host").elsewhere
    assert wrapped("docker exec -i db").elsewhere
    assert not wrapped("numactl -N 0").elsewhere
    assert wrapped("sudo -u postgres").other_user
    assert not wrapped("env A=b").other_user


def test_psql_is_the_one_beside_pgbench_behind_the_same_wrapper() -> None:
    found = find_benchmark(["sudo", "-u", "postgres", "/opt/bin/pgbench", "-S"])
    assert found.sibling("psql") == ["sudo", "-u", "postgres", "/opt/bin/psql"]
    assert find_benchmark(["pgbench"]).sibling("psql") == ["psql"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://bob:s3cret@db/bench", "postgresql://bob:***@db/bench"),
        ("host=db password=s3cret user=bob", "host=db password=*** user=bob"),
        ("host=db password = 's3 cr\\'et' user=bob", "host=db password = *** user=bob"),
        ("postgresql://db/bench?user=bob&password=s3cret&a=b", "postgresql://db/bench?user=bob&password=***&a=b"),
        ("postgresql://bob@db:5432/bench", "postgresql://bob@db:5432/bench"),
        ("--name=password", "--name=password"),
        ("PGPASSWORD=s3 cr&et", "PGPASSWORD=***"),
        ("-ePGPASSWORD=s3cret", "-ePGPASSWORD=***"),
        ("--env=PGPASSWORD=s3cret", "--env=PGPASSWORD=***"),
        ("SSHPASS=s3cret", "SSHPASS=***"),
        ("export PGPASSWORD=s3cret;", "export PGPASSWORD=***"),
        ("--http_pass=s3cret", "--http_pass=***"),
        ("PGPASSFILE=/home/bob/.pgpass", "PGPASSFILE=/home/bob/.pgpass"),
        ("caf\udce9", "caf\ufffd"),
    ],
)
def test_passwords_are_blotted_out(text: str, shown: str) -> None:
    assert without_passwords(text) == shown


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("sshpass -p s3cret ssh -p 22 db pgbench -p 5432", "sshpass -p *** ssh -p 22 db pgbench -p 5432"),
        ("/usr/bin/sshpass -v -ps3cret ssh db pgbench", "/usr/bin/sshpass -v -p*** ssh db pgbench"),
        ("sshpass -e ssh -p 22 db pgbench", "sshpass -e ssh -p 22 db pgbench"),
        ("docker exec -e PGPASSWORD=s3cret db pgbench -S", "docker exec -e PGPASSWORD=*** db pgbench -S"),
    ],
)
def test_a_command_is_recorded_without_passwords(command: str, shown: str) -> None:
    assert recordable(command.split()) == shown.split()
