# tool: iperf3 3.12 (Debian bookworm package 3.12-1+deb12u2)
# server, its output in text-timestamps-units-3.12.server.out: iperf3 -s -1 -p 24546 -B 127.0.0.1 --forceflush >text-timestamps-units-3.12.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24546 -t 4 -b 200M -f m --timestamps --forceflush | (each stream a pipe) >text-timestamps-units-3.12.out 2>text-timestamps-units-3.12.err
# rc=0 start=1795334924.842494 end=1795334928.902754
