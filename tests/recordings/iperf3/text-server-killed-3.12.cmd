# tool: iperf3 3.12 (Debian bookworm package 3.12-1+deb12u2)
# server, its output in text-server-killed-3.12.server.out: iperf3 -s -1 -p 24548 -B 127.0.0.1 --forceflush >text-server-killed-3.12.server.out 2>&1
# 3.201 s: SIGKILL to the server (at 1795334937.669737)
iperf3 -c 127.0.0.1 -p 24548 -t 8 -b 200M --forceflush | (each stream a pipe) >text-server-killed-3.12.out 2>text-server-killed-3.12.err
# rc=1 start=1795334934.468642 end=1795334937.694513
