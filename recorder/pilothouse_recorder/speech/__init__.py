"""Speech becomes words with times, by an engine of the person's choice."""
