# tool: iperf3 3.12 (Debian bookworm package 3.12-1+deb12u2)
# server, its output in json-tcp-p2-3.12.server.out: iperf3 -s -1 -p 24509 -B 127.0.0.1 --forceflush >json-tcp-p2-3.12.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24509 -t 3 -b 200M -P 2 -J | (each stream a pipe) >json-tcp-p2-3.12.out 2>json-tcp-p2-3.12.err
# rc=0 start=1795334761.505792 end=1795334764.546491
