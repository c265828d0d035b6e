# tool: fio-3.33 (Debian bookworm package 3.33-3)
# recorded with --output-format=normal,json; the JSON is left out
fio --directory=/data --size=16M --output-format=normal --name=sig --rw=randread --ioengine=psync --runtime=20 --time_based >normal-sigint-3.33.out 2>&1 ; 2 s: SIGINT
