# tool: redis-benchmark 7.0.15 (Debian)
redis-benchmark -p 24701 -q -l -t set -n 30000 -c 5 >set-loop-7.0.15.out 2>set-loop-7.0.15.err
# 3 s: SIGINT
# rc=124 start=1795844406.306495 end=1795844409.318525
