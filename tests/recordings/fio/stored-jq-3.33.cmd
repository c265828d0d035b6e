# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --name=rrw --rw=randrw --directory=/data --size=16M --bs=4k --ioengine=libaio --iodepth=16 --direct=1 --time_based --runtime=3 --output-format=json+ --status-interval=1 >jsonplus-si1-libaio-qd16-3.33.out 2>jsonplus-si1-libaio-qd16-3.33.err; jq -c . jsonplus-si1-libaio-qd16-3.33.out >stored-jq-3.33.json
# rc=0 start=1795168690.352558001 end=1795168693.660888327
