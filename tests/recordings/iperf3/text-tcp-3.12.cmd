# tool: iperf3 3.12 (Debian bookworm package 3.12-1+deb12u2)
# server, its output in text-tcp-3.12.server.out: iperf3 -s -1 -p 24506 -B 127.0.0.1 --forceflush >text-tcp-3.12.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24506 -t 4 -b 200M --forceflush | (each stream a pipe) >text-tcp-3.12.out 2>text-tcp-3.12.err
# rc=0 start=1795334747.260365 end=1795334751.294111
