# tool: memtier_benchmark 1.2.17 (built from its source; server Redis 7.0.15)
memtier_benchmark -p 24701 -n 5000 -t 2 -c 5 --hide-histogram >requests-1.2.17.out 2>requests-1.2.17.err
# rc=0 start=1795843726.196687 end=1795843728.205199
