# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --filename=vf --size=2M --bs=4k --rw=randread --rate_iops=200 --time_based --name=short --runtime=1 --name=long --runtime=3 --output-format=json >json-different-runtimes-3.33.out
# rc=0 start=1795342776.404407708 end=1795342779.981622662
