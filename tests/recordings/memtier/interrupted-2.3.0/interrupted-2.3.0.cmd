# tool: memtier_benchmark 2.3.0 (built from its source; server Redis 7.0.15)
timeout -s INT 2.5 memtier_benchmark -p 24602 --test-time=30 -t 1 -c 4 --hide-histogram >interrupted-2.3.0.out 2>interrupted-2.3.0.err
# rc=124 start=1795485566.225923 end=1795485568.797624
