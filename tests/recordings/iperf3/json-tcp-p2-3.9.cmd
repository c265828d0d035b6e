# tool: iperf3 3.9 (Debian bullseye package 3.9-1+deb11u1)
# server, its output in json-tcp-p2-3.9.server.out: iperf3 -s -1 -p 24504 -B 127.0.0.1 --forceflush >json-tcp-p2-3.9.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24504 -t 3 -b 200M -P 2 -J | (each stream a pipe) >json-tcp-p2-3.9.out 2>json-tcp-p2-3.9.err
# rc=0 start=1795334738.372442 end=1795334741.582664
