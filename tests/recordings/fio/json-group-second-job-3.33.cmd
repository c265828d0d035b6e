# tool: fio-3.33 (Debian bookworm package 3.33-3); fio adds the group to the job before it, and prints an entry without a name
fio --size=4M --ioengine=psync --time_based --runtime=2 --rate_iops=200 --name=read --rw=randread --name=write --rw=randwrite --bs=8k --numjobs=2 --group_reporting --output-format=json --status-interval=1 >json-group-second-job-3.33.out 2>json-group-second-job-3.33.err
# rc=0 start=1795867904.452022464 end=1795867906.725681013
