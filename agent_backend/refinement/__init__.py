"""What people said becomes readable reasoning, and every sentence says where it comes from."""
