# tool: iperf3 3.22 (Debian sid package 3.22-0.1)
# server, its output in stream-full-3.22.server.out: iperf3 -s -1 -p 24539 -B 127.0.0.1 --forceflush >stream-full-3.22.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24539 -t 3 -b 200M --json-stream --json-stream-full | (each stream a pipe) >stream-full-3.22.out 2>stream-full-3.22.err
# rc=0 start=1795334898.811917 end=1795334901.874660
