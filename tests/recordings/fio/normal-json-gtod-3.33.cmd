# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --directory=/data --size=16M --output-format=normal,json --name=gt --rw=randread --ioengine=psync --bs=4k --gtod_reduce=1 --runtime=1 --time_based >normal-json-gtod-3.33.out 2>&1
