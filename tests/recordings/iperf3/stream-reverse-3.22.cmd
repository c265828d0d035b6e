# tool: iperf3 3.22 (Debian sid package 3.22-0.1)
# server, its output in stream-reverse-3.22.server.out: iperf3 -s -1 -p 24538 -B 127.0.0.1 --json-stream >stream-reverse-3.22.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24538 -t 4 -R -b 200M --json-stream | (each stream a pipe) >stream-reverse-3.22.out 2>stream-reverse-3.22.err
# rc=0 start=1795334894.020339 end=1795334898.041354
