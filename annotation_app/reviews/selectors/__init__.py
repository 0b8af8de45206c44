"""Reading reviews; nothing here writes."""
