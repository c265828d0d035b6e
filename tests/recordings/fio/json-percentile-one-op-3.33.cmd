# tool: fio-3.33 (Debian bookworm package 3.33-3)
fio --name=ro --filename=vf --size=2M --rw=randread --bs=4k --output-format=json >json-percentile-one-op-3.33.out
# rc=0 start=1795342775.679725553 end=1795342776.378404485
