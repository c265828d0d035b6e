# tool: iperf3 3.9 (Debian bullseye package 3.9-1+deb11u1)
# server, its output in text-tcp-3.9.server.out: iperf3 -s -1 -p 24501 -B 127.0.0.1 --forceflush >text-tcp-3.9.server.out 2>&1
iperf3 -c 127.0.0.1 -p 24501 -t 4 -b 200M --forceflush | (each stream a pipe) >text-tcp-3.9.out 2>text-tcp-3.9.err
# rc=0 start=1795334723.564530 end=1795334727.774711
