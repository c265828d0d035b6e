# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --directory=/data --size=16M --output-format=normal,json --name=rd --rw=randread --ioengine=libaio --direct=1 --iodepth=8 --runtime=2 --time_based --bs=4k --name=wr --stonewall --rw=randwrite --bs=8k --ioengine=psync --fsync=16 --runtime=2 --time_based >normal-json-groups-3.33.out 2>&1
