# tool: iperf3 3.22 (Debian sid package 3.22-0.1)
# server, its output in text-udp-3.22.server.out: iperf3 -s -1 -p 24518 -B 127.0.0.1 --forceflush >text-udp-3.22.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24518 -t 4 -u -b 50M --forceflush | (each stream a pipe) >text-udp-3.22.out 2>text-udp-3.22.err
# rc=0 start=1795334802.438607 end=1795334806.512108
