# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --name=vm --filename=vf --rw=randrw --size=8M --bs=4k --verify=crc32c --rate_iops=400 --output-format=json+ --status-interval=1 >jsonplus-verify-randrw-3.33.out
# rc=0 start=1795342765.556060032 end=1795342768.642910663
