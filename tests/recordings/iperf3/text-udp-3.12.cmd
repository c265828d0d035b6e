# tool: iperf3 3.12 (Debian bookworm package 3.12-1+deb12u2)
# server, its output in text-udp-3.12.server.out: iperf3 -s -1 -p 24508 -B 127.0.0.1 --forceflush >text-udp-3.12.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24508 -t 4 -u -b 50M --forceflush | (each stream a pipe) >text-udp-3.12.out 2>text-udp-3.12.err
# rc=0 start=1795334756.747087 end=1795334760.796124
