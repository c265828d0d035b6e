# not recorded: written in the form of a published run (vioperf is closed)
vioperf --thread-count=8 --duration=300s /home
