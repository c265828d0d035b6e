# tool: iperf3 3.22 (Debian sid package 3.22-0.1)
# server, its output in stream-udp-3.22.server.out: iperf3 -s -1 -p 24532 -B 127.0.0.1 --json-stream >stream-udp-3.22.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24532 -t 4 -u -b 50M --json-stream | (each stream a pipe) >stream-udp-3.22.out 2>stream-udp-3.22.err
# rc=0 start=1795334866.776287 end=1795334870.808644
