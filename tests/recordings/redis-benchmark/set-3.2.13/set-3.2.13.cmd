# tool: redis-benchmark 3.2.13 (built from its source; server Redis 7.0.15)
redis-benchmark -p 24701 -t set -n 30000 -c 5 >set-3.2.13.out 2>set-3.2.13.err
# rc=0 start=1795844409.344000 end=1795844410.320914
