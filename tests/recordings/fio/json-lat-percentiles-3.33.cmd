# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --name=lp --filename=vf --size=2M --rw=randread --bs=4k --lat_percentiles=1 --clat_percentiles=0 --output-format=json >json-lat-percentiles-3.33.out
# rc=0 start=1795342878.351928491 end=1795342878.669023575
