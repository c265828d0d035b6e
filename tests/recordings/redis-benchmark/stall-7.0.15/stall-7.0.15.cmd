# tool: redis-benchmark 7.0.15 (Debian bookworm package; server 7.0.15)
redis-benchmark -p 24601 -q -t set -n 120000 -c 10 >stall-7.0.15.out 2>stall-7.0.15.err
# rc=0 start=1795485264.589423 end=1795485267.449960
