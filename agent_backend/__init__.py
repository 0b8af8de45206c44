"""The service layer: one episode's loop, and the policies that propose in it."""
