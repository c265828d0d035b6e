# tool: iperf3 3.18 (Debian trixie package 3.18-2+deb13u2)
# server, its output in stream-omit-interval05-3.18.server.out: iperf3 -s -1 -p 24524 -B 127.0.0.1 --forceflush >stream-omit-interval05-3.18.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24524 -t 3 -O 1 -i 0.5 -b 200M --json-stream | (each stream a pipe) >stream-omit-interval05-3.18.out 2>stream-omit-interval05-3.18.err
# rc=0 start=1795334830.037631 end=1795334834.065434
