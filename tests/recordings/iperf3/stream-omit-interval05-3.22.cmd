# tool: iperf3 3.22 (Debian sid package 3.22-0.1)
# server, its output in stream-omit-interval05-3.22.server.out: iperf3 -s -1 -p 24533 -B 127.0.0.1 --forceflush >stream-omit-interval05-3.22.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24533 -t 3 -O 1 -i 0.5 -b 200M --json-stream | (each stream a pipe) >stream-omit-interval05-3.22.out 2>stream-omit-interval05-3.22.err
# rc=0 start=1795334871.521565 end=1795334875.551744
