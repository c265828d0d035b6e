# tool: vdbench50406 (built from its published source; Java 17); this is its flatfile.html
vdbench -f rate-warmup.parm -o output  | (each stream a pipe) >rate-warmup-50406.out 2>rate-warmup-50406.err
# rc=0 start=1795334565.930267 end=1795334581.336897
