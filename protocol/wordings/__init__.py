"""Which task texts say the same in other words."""
