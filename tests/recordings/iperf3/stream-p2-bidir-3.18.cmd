# tool: iperf3 3.18 (Debian trixie package 3.18-2+deb13u2)
# server, its output in stream-p2-bidir-3.18.server.out: iperf3 -s -1 -p 24522 -B 127.0.0.1 --forceflush >stream-p2-bidir-3.18.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24522 -t 4 -b 50M -P 2 --bidir --json-stream | (each stream a pipe) >stream-p2-bidir-3.18.out 2>stream-p2-bidir-3.18.err
# rc=0 start=1795334820.522677 end=1795334824.550988
