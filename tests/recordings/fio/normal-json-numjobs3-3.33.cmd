# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --directory=/data --size=16M --output-format=normal,json --name=cl --rw=randrw --ioengine=psync --numjobs=3 --runtime=2 --time_based --bs=4k --bsrange=4k-16k >normal-json-numjobs3-3.33.out 2>&1
