# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --name=vs --filename=vf --rw=write --size=448M --bs=64k --verify=sha3-512 --output-format=json --status-interval=1 >json-verify-slow-3.33.out
# rc=0 start=1795342798.974941454 end=1795342830.539517256
