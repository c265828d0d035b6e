# tool: memtier_benchmark 2.3.0 (built from its source; server Redis 7.0.15)
memtier_benchmark -p 24602 --test-time=5 -t 2 -c 5 --ratio=1:1 >time-5s-2.3.0.out 2>time-5s-2.3.0.err
# rc=0 start=1795485544.770403 end=1795485549.826867
