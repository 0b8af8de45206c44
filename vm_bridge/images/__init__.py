"""What machines are made of: one folder an image, and the guest that runs in each."""
