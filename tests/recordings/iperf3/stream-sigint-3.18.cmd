# tool: iperf3 3.18 (Debian trixie package 3.18-2+deb13u2)
# server, its output in stream-sigint-3.18.server.out: iperf3 -s -1 -p 24527 -B 127.0.0.1 --forceflush >stream-sigint-3.18.server.out 2>&1
# 3.201 s: SIGINT (at 1795334851.748632)
iperf3 -c 127.0.0.1 -p 24527 -t 8 -b 200M --json-stream | (each stream a pipe) >stream-sigint-3.18.out 2>stream-sigint-3.18.err
# rc=1 start=1795334848.547611 end=1795334851.750103
