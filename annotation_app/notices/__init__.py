"""What people are told in the bar, and by mail where they ask for it."""
