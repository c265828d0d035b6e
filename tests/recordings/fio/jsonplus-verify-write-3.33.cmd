# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --name=vw --filename=vf --rw=write --size=8M --bs=4k --verify=crc32c --thinktime=1ms --thinktime_blocks=8 --rate_iops=700,700 --output-format=json+ --status-interval=1 >jsonplus-verify-write-3.33.out
# rc=0 start=1795342762.204361215 end=1795342765.539472096
