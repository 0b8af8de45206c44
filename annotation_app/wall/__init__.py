"""Every episode that runs, as whoever looks after several at once sees them."""
