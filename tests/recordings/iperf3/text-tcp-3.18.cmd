# tool: iperf3 3.18 (Debian trixie package 3.18-2+deb13u2)
# server, its output in text-tcp-3.18.server.out: iperf3 -s -1 -p 24511 -B 127.0.0.1 --forceflush >text-tcp-3.18.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24511 -t 4 -b 200M --forceflush | (each stream a pipe) >text-tcp-3.18.out 2>text-tcp-3.18.err
# rc=0 start=1795334770.018830 end=1795334774.047702
