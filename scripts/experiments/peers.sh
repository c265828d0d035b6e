# shellcheck shell=bash
# The methods that attribution is compared with, in an environment of their own; $peers is its Python.
peers=$folder/peers/bin/python
if ! "$peers" -c 'import baro, scipy' 2>/dev/null; then
  say "installing fse-baro 0.2.2 and what it needs"
  python3 -m venv "$folder/peers"
  "$peers" -m pip install --quiet --disable-pip-version-check fse-baro==0.2.2 >"$work/peers.log" 2>&1 || fail "fse-baro cannot be installed: $(tail -n 3 "$work/peers.log")"
fi
