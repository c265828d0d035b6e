# tool: iperf3 3.18 (Debian trixie package 3.18-2+deb13u2)
# server, its output in text-udp-3.18.server.out: iperf3 -s -1 -p 24513 -B 127.0.0.1 --forceflush >text-udp-3.18.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24513 -t 4 -u -b 50M --forceflush | (each stream a pipe) >text-udp-3.18.out 2>text-udp-3.18.err
# rc=0 start=1795334779.566167 end=1795334783.644418
