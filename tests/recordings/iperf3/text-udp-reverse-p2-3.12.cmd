# tool: iperf3 3.12 (Debian bookworm package 3.12-1+deb12u2)
# server, its output in text-udp-reverse-p2-3.12.server.out: iperf3 -s -1 -p 24553 -B 127.0.0.1 --forceflush >text-udp-reverse-p2-3.12.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24553 -t 4 -u -R -P 2 -b 20M --forceflush | (each stream a pipe) >text-udp-reverse-p2-3.12.out 2>text-udp-reverse-p2-3.12.err
# rc=0 start=1795334957.327653 end=1795334961.454274
