# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --directory=/data --size=16M --output-format=normal,json --name=slow --rw=randwrite --ioengine=psync --bs=4k --rate_iops=2 --runtime=4 --time_based --thinktime=100ms >normal-json-slow-3.33.out 2>&1
