# tool: fio-3.33 (Debian bookworm package 3.33-3)
# recorded with --output-format=normal,json; the JSON is left out
fio --name=err --filename=/dev/full --size=1M --rw=write --ioengine=psync --output-format=normal >normal-devfull-3.33.out 2>&1
