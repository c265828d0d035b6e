# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --directory=/data --size=16M --output-format=normal,json --name=bit --rw=read --ioengine=psync --runtime=1 --time_based --bs=64k --unit_base=1 >normal-json-bits-3.33.out 2>&1
