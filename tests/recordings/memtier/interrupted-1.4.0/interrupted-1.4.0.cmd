# tool: memtier_benchmark 1.4.0 (built from its source; server Redis 7.0.15)
timeout -s INT 2.5 memtier_benchmark -p 24602 --test-time=30 -t 1 -c 4 --hide-histogram >interrupted-1.4.0.out 2>interrupted-1.4.0.err
# rc=124 start=1795485493.256762 end=1795485495.767500
