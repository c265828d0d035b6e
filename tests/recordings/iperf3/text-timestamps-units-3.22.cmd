# tool: iperf3 3.22 (Debian sid package 3.22-0.1)
# server, its output in text-timestamps-units-3.22.server.out: iperf3 -s -1 -p 24547 -B 127.0.0.1 --forceflush >text-timestamps-units-3.22.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24547 -t 4 -b 200M -f K --timestamps=%s --forceflush | (each stream a pipe) >text-timestamps-units-3.22.out 2>text-timestamps-units-3.22.err
# rc=0 start=1795334929.674947 end=1795334933.712599
