# tool: iperf3 3.22 (Debian sid package 3.22-0.1; server 3.9)
# server, its output in stream-old-server-3.22.server.out: iperf3 -s -1 -p 24556 -B 127.0.0.1 --forceflush >stream-old-server-3.22.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24556 -t 3 -b 200M --json-stream | (each stream a pipe) >stream-old-server-3.22.out 2>stream-old-server-3.22.err
# rc=0 start=1795334969.823156 end=1795334972.963244
