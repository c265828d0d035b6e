# shellcheck shell=bash
# What the experiments with fio share: a file to work on, recorded runs of job files, and a table of their results.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
jobs=$checkout/docs/experiments/jobs

# prepare_fio MIB: checks what is needed, and goes to a folder with direct I/O, where fio makes its file of that size.
prepare_fio() {
  command -v fio >/dev/null || fail "needs fio: install the package fio (scripts/setup does)"
  take_folder $(($1 + 256))
  cd "$work"
  cp "$jobs"/*.fio .
  dd if=/dev/zero of=direct bs=4k count=1 oflag=direct status=none 2>dd.log ||
    fail "$folder: its file system has no direct I/O, only the page cache would be measured: choose another with --folder"
}

# measure RUN JOB_FILE [OPTION of fio...]
measure() {
  record "$1" disk1 -- fio --filename=file "${@:3}" "$2"
}

# results RUN: what each job reached, as benchwatch exports it; - where there is no target.
results() {
  benchwatch metrics "$runs/$1" | sed -nE \
    -e 's/^fio_target_iops\{.*job="([^"]*)",op="([^"]*)"\} (.*)/\1 \2 target \3/p' \
    -e 's/^fio_result_([a-z_]+)\{.*job="([^"]*)",op="([^"]*)"\} (.*)/\2 \3 \1 \4/p' \
    -e 's/^fio_result_latency_seconds\{.*job="([^"]*)",op="([^"]*)",quantile="([^"]*)"\} (.*)/\1 \2 p\3 \4/p' | awk '
    { row = $1 " " $2; value[row, $3] = $4 }
    $3 == "iops" { rows[++count] = row }
    function cell(name, factor, form) { return (row, name) in value ? sprintf(form, value[row, name] * factor) : "-" }
    END {
      printf "%-20s %-6s %8s %8s %9s %10s %10s %10s\n", "job", "op", "target", "IOPS", "MB/s", "mean", "p50", "p99"
      for (i = 1; i <= count; i++) {
        row = rows[i]
        split(row, part, " ")
        printf "%-20s %-6s %8s %8s %9s %10s %10s %10s\n", part[1], part[2], cell("target", 1, "%.0f"), cell("iops", 1, "%.0f"), \
          cell("bandwidth_bytes_per_second", 1e-6, "%.1f"), cell("latency_average_seconds", 1000, "%.3f ms"), \
          cell("p0.5", 1000, "%.3f ms"), cell("p0.99", 1000, "%.3f ms")
      }
    }'
}
