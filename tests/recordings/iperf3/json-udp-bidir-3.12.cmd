# tool: iperf3 3.12 (Debian bookworm package 3.12-1+deb12u2); system_info is shortened
# server, its output in json-udp-bidir-3.12.server.out: iperf3 -s -1 -p 24561 -B 127.0.0.1 -J >json-udp-bidir-3.12.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24561 -t 3 -u -b 50M --bidir -J >json-udp-bidir-3.12.out
# rc=0
