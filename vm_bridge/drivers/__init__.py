"""What can be done to a machine: one driver a file, none knows another."""
