# tool: memtier_benchmark 2.3.0 (built from its source; server Redis 7.0.15)
memtier_benchmark -p 24602 --test-time=5 -t 1 -c 4 --hide-histogram >stall-2.3.0.out 2>stall-2.3.0.err
# rc=0 start=1795485561.182603 end=1795485566.218989
