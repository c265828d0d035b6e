# tool: iperf3 3.12 (Debian bookworm package 3.12-1+deb12u2)
# server, its output in json-server-killed-3.12.server.out: iperf3 -s -1 -p 24541 -B 127.0.0.1 --forceflush >json-server-killed-3.12.server.out 2>&1
# 3.211 s: SIGKILL to the server (at 1795334909.651103)
iperf3 -c 127.0.0.1 -p 24541 -t 8 -b 200M -J | (each stream a pipe) >json-server-killed-3.12.out 2>json-server-killed-3.12.err
# rc=0 start=1795334906.440000 end=1795334909.651333
