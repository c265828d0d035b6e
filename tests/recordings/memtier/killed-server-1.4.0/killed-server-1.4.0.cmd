# tool: memtier_benchmark 1.4.0 (built from its source; server Redis 7.0.15)
timeout 6 memtier_benchmark -p 24602 --test-time=5 -t 1 -c 4 --hide-histogram >killed-server-1.4.0.out 2>killed-server-1.4.0.err
# rc=0 start=1795485495.782954 end=1795485497.806921
