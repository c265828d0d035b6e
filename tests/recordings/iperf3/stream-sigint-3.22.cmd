# tool: iperf3 3.22 (Debian sid package 3.22-0.1)
# server, its output in stream-sigint-3.22.server.out: iperf3 -s -1 -p 24536 -B 127.0.0.1 --forceflush >stream-sigint-3.22.server.out 2>&1
# 3.201 s: SIGINT (at 1795334893.266604)
iperf3 -c 127.0.0.1 -p 24536 -t 8 -b 200M --json-stream | (each stream a pipe) >stream-sigint-3.22.out 2>stream-sigint-3.22.err
# rc=0 start=1795334890.065176 end=1795334893.269124
