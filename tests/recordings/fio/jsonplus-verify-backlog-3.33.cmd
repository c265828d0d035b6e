# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --name=vb --filename=vf --rw=write --size=8M --bs=4k --verify=crc32c --verify_backlog=64 --rate_iops=700 --output-format=json+ --status-interval=1 >jsonplus-verify-backlog-3.33.out
# rc=0 start=1795342768.656089369 end=1795342772.074368841
