# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --name=vl --filename=vf --rw=randwrite --size=4M --bs=4k --verify=crc32c --loops=2 --rate_iops=700 --output-format=json --status-interval=1 >json-verify-loops-3.33.out
# rc=0 start=1795342772.094439455 end=1795342775.660209606
