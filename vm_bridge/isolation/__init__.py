"""How processes are kept apart from this machine: bubblewrap, control groups, seccomp and user ids."""
