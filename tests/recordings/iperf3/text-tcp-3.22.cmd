# tool: iperf3 3.22 (Debian sid package 3.22-0.1)
# server, its output in text-tcp-3.22.server.out: iperf3 -s -1 -p 24516 -B 127.0.0.1 --forceflush >text-tcp-3.22.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24516 -t 4 -b 200M --forceflush | (each stream a pipe) >text-tcp-3.22.out 2>text-tcp-3.22.err
# rc=0 start=1795334792.896015 end=1795334796.929625
