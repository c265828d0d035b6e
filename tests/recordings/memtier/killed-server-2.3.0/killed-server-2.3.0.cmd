# tool: memtier_benchmark 2.3.0 (built from its source; server Redis 7.0.15)
timeout 6 memtier_benchmark -p 24602 --test-time=5 -t 1 -c 4 --hide-histogram >killed-server-2.3.0.out 2>killed-server-2.3.0.err
# rc=124 start=1795485568.810613 end=1795485574.820322
