# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --filename=vf --size=2M --bs=4k --rw=randread --rate_iops=200 --time_based --runtime=1 --name=first --name=second --wait_for=first --output-format=json >json-wait-for-3.33.out
# rc=0 start=1795342779.991873996 end=1795342782.568793740
