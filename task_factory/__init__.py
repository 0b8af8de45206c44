"""Makes tasks and checks them: games, tasks for web sites. Run as `./pilothouse factory`."""
