# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --name=vw --filename=vf --rw=write --size=4M --bs=4k --verify=crc32c --output-format=json >json-verify-write-3.33.out
# rc=0 start=1795342761.737997159 end=1795342762.184339314
