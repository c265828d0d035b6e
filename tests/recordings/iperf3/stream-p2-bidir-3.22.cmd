# tool: iperf3 3.22 (Debian sid package 3.22-0.1)
# server, its output in stream-p2-bidir-3.22.server.out: iperf3 -s -1 -p 24531 -B 127.0.0.1 --forceflush >stream-p2-bidir-3.22.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24531 -t 4 -b 50M -P 2 --bidir --json-stream | (each stream a pipe) >stream-p2-bidir-3.22.out 2>stream-p2-bidir-3.22.err
# rc=0 start=1795334862.013781 end=1795334866.054931
