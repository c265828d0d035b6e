# tool: iperf3 3.22 (Debian sid package 3.22-0.1)
# server, its output in text-verbose-omit-3.22.server.out: iperf3 -s -1 -p 24552 -B 127.0.0.1 --forceflush >text-verbose-omit-3.22.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24552 -t 3 -O 1 -V -b 200M --forceflush | (each stream a pipe) >text-verbose-omit-3.22.out 2>text-verbose-omit-3.22.err
# rc=0 start=1795334952.505579 end=1795334956.549640
