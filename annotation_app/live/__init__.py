"""The annotation desk: sockets, runners, and the one place where the layers are joined."""
