# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --filename=vf --size=2M --bs=4k --rw=randread --rate_iops=200 --time_based --runtime=1 --name=first --name=second --startdelay=1 --output-format=json >json-startdelay-3.33.out
# rc=0 start=1795342782.587627796 end=1795342785.225459656
