# tool: iperf3 3.18 (Debian trixie package 3.18-2+deb13u2)
# server, its output in text-p4-bidir-3.18.server.out: iperf3 -s -1 -p 24512 -B 127.0.0.1 --forceflush >text-p4-bidir-3.18.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24512 -t 4 -b 50M -P 2 --bidir --forceflush | (each stream a pipe) >text-p4-bidir-3.18.out 2>text-p4-bidir-3.18.err
# rc=0 start=1795334774.772729 end=1795334778.835933
