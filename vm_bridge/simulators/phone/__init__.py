"""A simulated phone: the adb daemon's protocol in front of a phone-sized X display that shows web apps."""
