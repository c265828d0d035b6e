# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --directory=/data --size=16M --output-format=normal,json --name=gr --rw=randrw --ioengine=psync --numjobs=3 --group_reporting --runtime=2 --time_based --kb_base=1000 >normal-json-group-kb1000-3.33.out 2>&1
