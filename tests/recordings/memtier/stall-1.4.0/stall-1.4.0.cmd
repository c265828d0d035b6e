# tool: memtier_benchmark 1.4.0 (built from its source; server Redis 7.0.15)
memtier_benchmark -p 24602 --test-time=5 -t 1 -c 4 --hide-histogram >stall-1.4.0.out 2>stall-1.4.0.err
# rc=0 start=1795485488.211809 end=1795485493.238971
