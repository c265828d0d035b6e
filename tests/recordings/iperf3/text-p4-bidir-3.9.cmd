# tool: iperf3 3.9 (Debian bullseye package 3.9-1+deb11u1)
# server, its output in text-p4-bidir-3.9.server.out: iperf3 -s -1 -p 24502 -B 127.0.0.1 --forceflush >text-p4-bidir-3.9.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24502 -t 4 -b 50M -P 2 --bidir --forceflush | (each stream a pipe) >text-p4-bidir-3.9.out 2>text-p4-bidir-3.9.err
# rc=0 start=1795334728.502456 end=1795334732.711543
