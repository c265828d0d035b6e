# tool: fio-3.33 (Debian bookworm package 3.33-3)
# recorded with --output-format=normal,json; the JSON is left out
fio --name=cont --filename=/dev/full --size=1M --rw=write --ioengine=psync --continue_on_error=all --output-format=normal >normal-continue-3.33.out 2>&1
