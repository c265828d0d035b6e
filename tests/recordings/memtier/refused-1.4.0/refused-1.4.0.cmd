# tool: memtier_benchmark 1.4.0 (built from its source; server Redis 7.0.15)
timeout 5 memtier_benchmark -p 24603 --test-time=2 -t 1 -c 2 --hide-histogram >refused-1.4.0.out 2>refused-1.4.0.err
# rc=0 start=1795485497.829529 end=1795485498.846951
