"""Facts about this machine: processor, memory, kernel, mounts and block devices, from /proc and /sys.

It never changes a setting, never waits for an answer beyond its time limit, and knows no benchmark.
"""
