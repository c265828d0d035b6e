# shellcheck shell=bash
# A scene on simulated CVMs, watched as real ones are: benchwatch reads their pages, Prometheus stores what it says.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# play SCENE CVMS: for --seconds; then a table of the data vdisk's reads, and a picture in the folder.
play() {
  local simulator ports begin picture=$folder/$1-$stamp.png
  [ "${option[every]}" -le $((option[seconds] / 2)) ] || wrong "--every: expected at most half of --seconds, got ${option[every]}"
  read -r -a ports <<<"$(free_ports 2)"
  setpriv --pdeathsig=TERM benchwatch nutanix simulate --scene="$1" --cvms="$2" --listen=127.0.0.1:0 >"$work/cvms" 2>"$work/simulator.log" </dev/null &
  simulator=$!
  at_end eval "kill $simulator; wait $simulator"
  until [ "$(wc -l <"$work/cvms")" = "$2" ]; do
    kill -0 "$simulator" 2>/dev/null || fail "the simulated CVMs did not start: $(tail -n 3 "$work/simulator.log")"
    sleep 0.1
  done
  begin=$(date +%s.%N)
  cat >"$work/benchwatch.yaml" <<END
nutanix:
  cvms:
$(awk '{ print "    - {name: cvm" NR ", url: \"" $NF "\"}" }' "$work/cvms")
  mapping: {5f0d7d8e-3a52-4c0b-9f0e-000000045269: {vm: pg1, disk: scsi.1, role: data}}
END
  serve benchwatch "${ports[0]}" /-/ready benchwatch serve --config.file="$work/benchwatch.yaml" --runs.path="$runs" --web.listen-address="127.0.0.1:${ports[0]}"
  serve_prometheus "${ports[1]}" "${ports[0]}"
  say "scene $1 for ${option[seconds]} s, watched by Prometheus, http://127.0.0.1:${ports[1]}/, and benchwatch, http://127.0.0.1:${ports[0]}/"
  setpriv --pdeathsig=TERM sleep "${option[seconds]}" &
  wait $!
  say "done; data vdisk as Prometheus saw it:"
  "$bin/python" "$(dirname "${BASH_SOURCE[0]}")/vdisk_reads.py" "http://127.0.0.1:${ports[1]}" "$begin" "${option[every]}" "$picture"
  say "picture: $picture"
}
