"""What a machine showed, kept as video: the packets of its broadcast, written down as they come."""
