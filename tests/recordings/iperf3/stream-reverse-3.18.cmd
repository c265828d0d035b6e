# tool: iperf3 3.18 (Debian trixie package 3.18-2+deb13u2)
# server, its output in stream-reverse-3.18.server.out: iperf3 -s -1 -p 24529 -B 127.0.0.1 --json-stream >stream-reverse-3.18.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24529 -t 4 -R -b 200M --json-stream | (each stream a pipe) >stream-reverse-3.18.out 2>stream-reverse-3.18.err
# rc=0 start=1795334852.502506 end=1795334856.526154
