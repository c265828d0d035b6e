# tool: iperf3 3.22 (Debian sid package 3.22-0.1)
# server, its output in json-tcp-p2-3.22.server.out: iperf3 -s -1 -p 24519 -B 127.0.0.1 --forceflush >json-tcp-p2-3.22.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24519 -t 3 -b 200M -P 2 -J | (each stream a pipe) >json-tcp-p2-3.22.out 2>json-tcp-p2-3.22.err
# rc=0 start=1795334807.226969 end=1795334810.275507
