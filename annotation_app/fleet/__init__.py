"""The admins' view of the machines, and their changes to them."""
