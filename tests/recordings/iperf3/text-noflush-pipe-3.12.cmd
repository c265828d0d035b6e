# tool: iperf3 3.12 (Debian bookworm package 3.12-1+deb12u2)
# no --forceflush: the pipe gets everything at the end
# server, its output in text-noflush-pipe-3.12.server.out: iperf3 -s -1 -p 24543 -B 127.0.0.1 --forceflush >text-noflush-pipe-3.12.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24543 -t 4 -b 200M | (each stream a pipe) >text-noflush-pipe-3.12.out 2>text-noflush-pipe-3.12.err
# rc=0 start=1795334910.412125 end=1795334914.461821
