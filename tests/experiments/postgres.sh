# shellcheck shell=bash
# What the experiments on PostgreSQL share besides common.sh: a server of their own.
#
# The server refuses to run as root, so root runs it as `postgres`. That user may not be let into the folders above (a
# checkout in /root), so the server reaches its data through an open descriptor of its home. It listens on a Unix socket
# only, in a folder of its own, and knows one role: the user who started the experiment.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# prepare MIB: checks what is needed, and takes the folder. $home is for the server's files, $inside is $home as the
# server reaches it.
prepare() {
  local initdb variable
  initdb=$(command -v initdb || ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null | sort -V | tail -n 1)
  [ -n "$initdb" ] || fail "PostgreSQL's server programs were not found: install the package postgresql (scripts/setup does)"
  if [ "$EUID" = 0 ]; then
    id postgres >/dev/null 2>&1 || fail "started as root, it needs an unprivileged user for the server: postgres, of the package postgresql"
    as_server=(setpriv --reuid=postgres --regid=postgres --clear-groups)
  else
    as_server=()
  fi
  PATH=$(dirname "$(readlink -f "$initdb")"):$PATH
  take_folder "$1"
  home=$work/postgres
  mkdir -p "$home/data"
  exec {descriptor}<"$home"
  inside=/proc/self/fd/$descriptor
  socket=$(mktemp -d)
  at_end rm -rf "$socket"
  for variable in ${!PG*}; do unset "$variable"; done
  export PGHOST=$socket PGUSER=$(id -un) PGDATABASE=postgres
}

# make_server [OPTION of initdb...]: an empty cluster in $home/data.
make_server() {
  say "making a PostgreSQL cluster in $home"
  [ "$EUID" != 0 ] || chown -R postgres: "$home" "$socket"
  "${as_server[@]}" initdb -D "$inside/data/cluster" -U "$PGUSER" -E UTF8 --no-locale --no-sync --auth=peer "$@" >"$work/initdb.log" 2>&1 ||
    fail "initdb failed: $(tail -n 3 "$work/initdb.log")"
  at_end stop_server QUIT
}

# start_server NAME=VALUE...: the cluster with these settings; returns once it accepts connections.
start_server() {
  local settings=() setting
  for setting in "listen_addresses=" "unix_socket_directories=$socket" "$@"; do settings+=(-c "$setting"); done
  "${as_server[@]}" setpriv --pdeathsig=QUIT postgres -D "$inside/data/cluster" "${settings[@]}" >"$work/postgres.log" 2>&1 </dev/null &
  server=$!
  until pg_isready -q; do
    kill -0 "$server" 2>/dev/null || fail "PostgreSQL did not start: $(tail -n 3 "$work/postgres.log")"
    sleep 0.1
  done
}

# stop_server [SIGNAL]: by default in good order.
stop_server() {
  [ -n "${server-}" ] || return 0
  kill -"${1-INT}" "$server" 2>/dev/null || true
  wait "$server" || true
  server=
}

# fill DATABASE SCALE: the tables of pgbench.
fill() {
  say "filling the tables of pgbench in $1, scale $2"
  pgbench -i -q -s "$2" "$1" >"$work/pgbench-init.log" 2>&1 || fail "pgbench -i failed: $(tail -n 3 "$work/pgbench-init.log")"
}
