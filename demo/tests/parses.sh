# The program is a shell script without mistakes in it.
sh -n todo
