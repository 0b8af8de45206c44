"""What admins, researchers and operators do in the app, in a real browser."""
