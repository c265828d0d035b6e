# tool: iperf3 3.18 (Debian trixie package 3.18-2+deb13u2)
# server, its output in stream-tcp-3.18.server.out: iperf3 -s -1 -p 24521 -B 127.0.0.1 --forceflush >stream-tcp-3.18.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24521 -t 4 -b 200M --json-stream | (each stream a pipe) >stream-tcp-3.18.out 2>stream-tcp-3.18.err
# rc=0 start=1795334815.780789 end=1795334819.806757
