# tool: iperf3 3.18 (Debian trixie package 3.18-2+deb13u2)
# server, its output in stream-udp-3.18.server.out: iperf3 -s -1 -p 24523 -B 127.0.0.1 --json-stream >stream-udp-3.18.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24523 -t 4 -u -b 50M --json-stream | (each stream a pipe) >stream-udp-3.18.out 2>stream-udp-3.18.err
# rc=0 start=1795334825.301718 end=1795334829.325685
