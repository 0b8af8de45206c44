"""Which task files of OSWorld work on our own desktops with applications, and why others do not."""
