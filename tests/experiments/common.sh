# shellcheck shell=bash
# What the experiments beside this file share: options, progress, a folder of their own, cleaning up, recorded runs,
# and a Prometheus that watches.

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=$checkout/.venv/bin
started=$SECONDS
cleanups=()

say() { printf '%02d:%02d  %s\n' $(((SECONDS - started) / 60)) $(((SECONDS - started) % 60)) "$*"; }
fail() { echo "${0##*/}: $*" >&2; exit 1; }
wrong() { echo "${0##*/}: $*" >&2; exit 2; }

# Remembers a command for the end of the script, however it ends; the last one comes first.
at_end() { cleanups=("$(printf '%q ' "$@")" "${cleanups[@]}"); }
clean_up() {
  trap '' INT TERM HUP
  local command
  for command in "${cleanups[@]}"; do eval "$command" || true; done
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Sets the entries of `option` from --name=value or --name value; --help prints the script's first comment. Values are
# whole numbers, but for the options in `texts`. Values below those in `least` are refused: they give no result.
# EXPERIMENTS_OF_ANY_LENGTH=1 is for tests of the scripts themselves.
declare -A option=([folder]=$checkout/.experiments) least=()
texts=" folder "
read_options() {
  local name value
  while [ $# -gt 0 ]; do
    [ "$1" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0; }
    name=${1%%=*} name=${name#--}
    [[ $1 == --* && -v option[$name] ]] || wrong "$1: expected one of$(printf ' --%s' "${!option[@]}"), or --help"
    if [[ $1 == *=* ]]; then value=${1#*=}; else value=${2-}; shift; fi
    [ -n "$value" ] || wrong "--$name: expected a value"
    [[ $texts == *" $name "* || $value =~ ^[1-9][0-9]*$ ]] || wrong "--$name: expected a whole number above 0, got $value"
    [[ ! -v least[$name] || $value -ge ${least[$name]} || ${EXPERIMENTS_OF_ANY_LENGTH-} ]] ||
      wrong "--$name: expected at least ${least[$name]}, got $value: that is too little for a result"
    option[$name]=$value
    shift || true
  done
}

# take_folder MIB: checks what is needed, and takes the folder for this experiment alone; what is measured stays in
# $runs, all else is in $work and is removed in the end.
take_folder() {
  local free
  [ -x "$bin/benchwatch" ] || fail "needs what scripts/setup installs: run that first"
  PATH=$bin:$PATH
  mkdir -p "${option[folder]}" || fail "${option[folder]}: cannot be made; choose another with --folder"
  folder=$(cd "${option[folder]}" && pwd) runs=$folder/runs
  mkdir -p "$runs"
  exec {lock}<"$runs"
  flock -n "$lock" || fail "another experiment runs in $folder: end it, or choose another folder with --folder"
  free=$(df --output=avail -BM "$folder" | tail -n 1 | tr -dc 0-9)
  [ "$free" -ge "$1" ] || fail "$folder has $free MiB of free space, $1 are needed: choose another with --folder"
  work=$(mktemp -d "$folder/work.XXXXXX")
  at_end rm -rf "$work"
}

# For the names of runs: an experiment can be repeated.
stamp=$(date +%Y%m%d-%H%M%S)

# record RUN WORKER [OPTION of benchwatch run...] -- COMMAND...: a benchmark as a worker of a run.
record() {
  local run=$1 worker=$2
  shift 2
  benchwatch run --runs.path="$runs" --name="$run" --worker="$worker" "$@" >"$work/$worker.log" 2>&1 ||
    fail "$worker of run $run failed: $(tail -n 3 "$work/$worker.log")"
}

# free_ports COUNT: TCP ports of loopback, one line; below those that the kernel gives to whoever asks for any.
free_ports() {
  python3 -c '
import contextlib, random, socket, sys
held = []
while len(held) < int(sys.argv[1]):
    with contextlib.suppress(OSError):
        held.append(socket.create_server(("127.0.0.1", random.randrange(10000, 32000))))
print(*(listener.getsockname()[1] for listener in held))' "$1"
}

# serve NAME PORT PAGE COMMAND...: a server that ends with the experiment, once it answers.
serve() {
  local pid
  setpriv --pdeathsig=TERM "${@:4}" >"$work/$1.log" 2>&1 </dev/null &
  pid=$!
  at_end eval "{ kill $pid; wait $pid; } 2>/dev/null"
  until curl --silent --fail --noproxy '*' --output /dev/null "http://127.0.0.1:$2$3"; do
    kill -0 "$pid" 2>/dev/null || fail "$1 did not start: $(tail -n 3 "$work/$1.log")"
    sleep 0.2
  done
}

# serve_prometheus PORT EXPORTER_PORT [NODE_EXPORTER_PORT]: with the configuration and rules of this project, without
# Alertmanager. The machine has the name that the exporter gives it without --host.
serve_prometheus() {
  cp -r "$checkout/prometheus/targets" "$checkout/prometheus/prometheus.yml" "$work"
  sed -i -e "s,127.0.0.1:19777,127.0.0.1:$2,; s,127.0.0.1:9100,127.0.0.1:${3-9100},; s,127.0.0.1:9090,127.0.0.1:$1," \
    -e "s,host: localhost,host: $(hostname)," -e "s,\"rules/,\"$checkout/prometheus/rules/," -e '/^alerting:/,/^$/d' \
    "$work/prometheus.yml" "$work"/targets/*
  serve prometheus "$1" /-/ready prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/prometheus" --web.listen-address="127.0.0.1:$1"
}
