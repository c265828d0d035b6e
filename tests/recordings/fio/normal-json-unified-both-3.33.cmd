# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --directory=/data --size=16M --output-format=normal,json --name=both --rw=randrw --ioengine=psync --bs=4k --unified_rw_reporting=both --runtime=1 --time_based >normal-json-unified-both-3.33.out 2>&1
