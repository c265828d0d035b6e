# not recorded: the other one, as if it was killed in the second test
vioperf --thread-count=8 --duration=300s /home
