# tool: fio-3.33 (Debian bookworm package 3.33-3); the file did not exist, so that fio first wrote it for 5 s
fio --name=layout --filename=/data/x --rw=randrw --size=1200M --time_based --runtime=2 --create_fsync=1 --output-format=json --status-interval=1 >json-si1-layout-3.33.out
