# tool: memtier_benchmark 2.3.0 (built from its source; server Redis 7.0.15)
memtier_benchmark -p 24602 -n 5000 -t 2 -c 5 --hide-histogram >requests-2.3.0.out 2>requests-2.3.0.err
# rc=0 start=1795485549.854873 end=1795485551.946192
