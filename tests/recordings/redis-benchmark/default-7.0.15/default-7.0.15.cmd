# tool: redis-benchmark 7.0.15 (Debian bookworm package; server 7.0.15)
redis-benchmark -p 24601 -t set,get -n 60000 -c 10 >default-7.0.15.out 2>default-7.0.15.err
# rc=0 start=1795485260.398150 end=1795485262.886734
