# tool: vdbench50406 (built from its published source; Java 17); this is its output folder without what names the host's kernel
vdbench -f two.parm -o output
# rc=0
