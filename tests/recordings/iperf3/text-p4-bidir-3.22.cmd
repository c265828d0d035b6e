# tool: iperf3 3.22 (Debian sid package 3.22-0.1)
# server, its output in text-p4-bidir-3.22.server.out: iperf3 -s -1 -p 24517 -B 127.0.0.1 --forceflush >text-p4-bidir-3.22.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24517 -t 4 -b 50M -P 2 --bidir --forceflush | (each stream a pipe) >text-p4-bidir-3.22.out 2>text-p4-bidir-3.22.err
# rc=0 start=1795334797.658074 end=1795334801.716057
