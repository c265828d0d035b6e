# tool: iperf3 3.18 (Debian trixie package 3.18-2+deb13u2)
# server, its output in json-tcp-p2-3.18.server.out: iperf3 -s -1 -p 24514 -B 127.0.0.1 --forceflush >json-tcp-p2-3.18.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24514 -t 3 -b 200M -P 2 -J | (each stream a pipe) >json-tcp-p2-3.18.out 2>json-tcp-p2-3.18.err
# rc=0 start=1795334784.366107 end=1795334787.407945
