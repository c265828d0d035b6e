# tool: fio-2.2.10 (built from tag fio-2.2.10)
fio --directory=/data --size=16M --name=rw --rw=randrw --rwmixread=70 --bs=4k --ioengine=psync --runtime=2 --time_based --name=wr --stonewall --rw=write --bs=64k --ioengine=psync --numjobs=2 --group_reporting --runtime=2 --time_based >normal-groups-2.2.10.out
