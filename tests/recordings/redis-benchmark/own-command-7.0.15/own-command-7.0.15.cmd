# tool: redis-benchmark 7.0.15 (Debian bookworm package; server 7.0.15)
redis-benchmark -p 24601 -n 30000 -c 4 eval return 1 0 >own-command-7.0.15.out 2>own-command-7.0.15.err
# rc=0 start=1795485263.910017 end=1795485264.585164
