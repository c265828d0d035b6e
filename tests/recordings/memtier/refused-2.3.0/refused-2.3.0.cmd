# tool: memtier_benchmark 2.3.0 (built from its source; server Redis 7.0.15)
timeout 5 memtier_benchmark -p 24603 --test-time=2 -t 1 -c 2 --hide-histogram >refused-2.3.0.out 2>refused-2.3.0.err
# rc=124 start=1795485574.847132 end=1795485579.863047
