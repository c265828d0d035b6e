# tool: redis-benchmark 7.0.15 (Debian bookworm package; server 7.0.15)
timeout 6 redis-benchmark -p 24601 -t set -n 2000000 -c 10 >killed-server-7.0.15.out 2>killed-server-7.0.15.err
# rc=1 start=1795485267.454358 end=1795485269.018963
