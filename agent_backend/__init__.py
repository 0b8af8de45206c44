"""The service layer: the loop of one episode, and the policies that propose actions in it."""
