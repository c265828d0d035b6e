# tool: memtier_benchmark 2.3.0 (built from its source; server Redis 7.0.15)
memtier_benchmark -p 24602 --test-time=2 -t 1 -c 4 --command=append __key__ x --command=strlen __key__ --hide-histogram >command-2.3.0.out 2>command-2.3.0.err
# rc=0 start=1795485558.145890 end=1795485561.168668
