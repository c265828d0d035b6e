# tool: iperf3 3.22 (Debian sid package 3.22-0.1)
# no --forceflush
# server, its output in text-noflush-pipe-3.22.server.out: iperf3 -s -1 -p 24544 -B 127.0.0.1 --forceflush >text-noflush-pipe-3.22.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24544 -t 4 -b 200M | (each stream a pipe) >text-noflush-pipe-3.22.out 2>text-noflush-pipe-3.22.err
# rc=0 start=1795334915.273757 end=1795334919.306544
