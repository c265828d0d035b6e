# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --directory=/data --size=16M --output-format=normal,json --name=ver --rw=write --ioengine=psync --bs=4k --verify=crc32c >normal-json-verify-3.33.out 2>&1
