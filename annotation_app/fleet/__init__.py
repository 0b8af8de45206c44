"""What an admin sees of the machines, and does to them."""
