# tool: redis-benchmark 7.0.15 (Debian bookworm package; server 7.0.15)
redis-benchmark -p 24601 -t set,lpush -n 300000 -c 10 -P 16 --threads 2 -d 100 -r 1000 >pipelined-7.0.15.out 2>pipelined-7.0.15.err
# rc=0 start=1795485262.891589 end=1795485263.906052
