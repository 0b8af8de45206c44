"""What needs whoever looks after the platform, in one answer."""
