# tool: iperf3 3.12 (Debian bookworm package 3.12-1+deb12u2)
# server, its output in text-bytes-limit-3.12.server.out: iperf3 -s -1 -p 24554 -B 127.0.0.1 --forceflush >text-bytes-limit-3.12.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24554 -n 60M -b 200M --forceflush | (each stream a pipe) >text-bytes-limit-3.12.out 2>text-bytes-limit-3.12.err
# rc=0 start=1795334962.280602 end=1795334964.882944
