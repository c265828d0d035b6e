#!/bin/sh
# Runs a benchmark again and again, each time as a new run in /pushed, where the exporter watches: repeat.sh NAME WORKER
# LATENCY_OBJECTIVE COMMAND... It keeps the last three runs, and removes all when the demo stops.
set -eu
name=$1 worker=$2 objective=$3
shift 3
remove_all_but() { ls -d "/pushed/$name-"* | head -n "-$1" | xargs -r rm -rf || :; }
stop() {
  trap - TERM INT
  kill $! && wait $! || :
  cd /
  remove_all_but 0
  exit 0
}
trap stop TERM INT
while :; do
  run=$name-$(date -u +%Y%m%d-%H%M%S)
  mkdir "/pushed/$run"
  cd "/pushed/$run"
  # The VM that docker/cvm.yaml gives its vdisks to.
  printf 'command: %s\nlatency_objective: %s\nvm: pg1\n' "$*" "$objective" >run.yaml
  echo "$run" >/tmp/run
  "$@" >"$worker.out" 2>"$worker.err" &
  wait $! || { echo "$run failed:"; tail -n 5 "$worker.err"; sleep 5; }
  remove_all_but 3
done
