# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --directory=/data --size=16M --output-format=normal,json --name=nul --rw=randtrim --ioengine=null --bs=4k --runtime=1 --time_based >normal-json-trim-null-3.33.out 2>&1
