# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --directory=/data --size=16M --output-format=normal,json --name=lp --rw=randread --ioengine=psync --bs=4k --lat_percentiles=1 --slat_percentiles=1 --clat_percentiles=0 --runtime=1 --time_based >normal-json-lat-percentiles-3.33.out 2>&1
