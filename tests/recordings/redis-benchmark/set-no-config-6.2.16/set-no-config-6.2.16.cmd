# tool: redis-benchmark 6.2.16 (built from its source; server Redis 7.0.15 without CONFIG)
redis-benchmark -p 24704 -q -t set -n 30000 -c 5 >set-no-config-6.2.16.out 2>set-no-config-6.2.16.err
# rc=0 start=1795844405.138344 end=1795844406.275916
