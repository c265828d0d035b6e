# tool: iperf3 3.18 (Debian trixie package 3.18-2+deb13u2)
# server, its output in stream-server-stopped4s-3.18.server.out: iperf3 -s -1 -p 24526 -B 127.0.0.1 --forceflush >stream-server-stopped4s-3.18.server.out 2>&1
# 2.504 s: SIGSTOP to the server (at 1795334841.281481)
# 6.501 s: SIGCONT to the server (at 1795334845.278022)
iperf3 -c 127.0.0.1 -p 24526 -t 9 -b 200M --json-stream | (each stream a pipe) >stream-server-stopped4s-3.18.out 2>stream-server-stopped4s-3.18.err
# rc=0 start=1795334838.776993 end=1795334847.832838
