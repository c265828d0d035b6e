# tool: iperf3 3.12 (Debian bookworm package 3.12-1+deb12u2)
# server, its output in text-p4-bidir-3.12.server.out: iperf3 -s -1 -p 24507 -B 127.0.0.1 --forceflush >text-p4-bidir-3.12.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24507 -t 4 -b 50M -P 2 --bidir --forceflush | (each stream a pipe) >text-p4-bidir-3.12.out 2>text-p4-bidir-3.12.err
# rc=0 start=1795334752.002918 end=1795334756.036612
