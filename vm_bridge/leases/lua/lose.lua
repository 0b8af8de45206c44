-- A machine is no more: machine, what its holder is told.
lose(ARGV[1], ARGV[2])
