# tool: iperf3 3.12 (Debian bookworm package 3.12-1+deb12u2)
# server, its output in text-server-stopped4s-3.12.server.out: iperf3 -s -1 -p 24549 -B 127.0.0.1 --forceflush >text-server-stopped4s-3.12.server.out 2>&1
# 2.512 s: SIGSTOP to the server (at 1795334940.961266)
# 6.503 s: SIGCONT to the server (at 1795334944.952629)
iperf3 -c 127.0.0.1 -p 24549 -t 9 -b 200M --forceflush | (each stream a pipe) >text-server-stopped4s-3.12.out 2>text-server-stopped4s-3.12.err
# rc=0 start=1795334938.449363 end=1795334947.506243
