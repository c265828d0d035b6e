# tool: iperf3 3.22 (Debian sid package 3.22-0.1)
# server, its output in stream-server-killed-3.22.server.out: iperf3 -s -1 -p 24534 -B 127.0.0.1 --forceflush >stream-server-killed-3.22.server.out 2>&1
# 3.208 s: SIGKILL to the server (at 1795334879.537357)
iperf3 -c 127.0.0.1 -p 24534 -t 8 -b 200M --json-stream | (each stream a pipe) >stream-server-killed-3.22.out 2>stream-server-killed-3.22.err
# rc=1 start=1795334876.329007 end=1795334879.544389
