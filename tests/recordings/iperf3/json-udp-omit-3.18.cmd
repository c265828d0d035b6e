# tool: iperf3 3.18 (Debian trixie package 3.18-2+deb13u2)
# server, its output in json-udp-omit-3.18.server.out: iperf3 -s -1 -p 24515 -B 127.0.0.1 --forceflush >json-udp-omit-3.18.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24515 -t 3 -O 1 -u -b 20M -J | (each stream a pipe) >json-udp-omit-3.18.out 2>json-udp-omit-3.18.err
# rc=0 start=1795334788.131131 end=1795334792.165669
