# tool: memtier_benchmark 2.3.0 (built from its source; server Redis 7.0.15)
memtier_benchmark -p 24602 --test-time=2 -t 1 -c 4 -x 2 --print-percentiles=50,95,99,99.9 --hide-histogram >two-runs-2.3.0.out 2>two-runs-2.3.0.err
# rc=0 start=1795485551.996674 end=1795485558.122934
