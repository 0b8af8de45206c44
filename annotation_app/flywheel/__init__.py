"""The flywheel: what people and policies did becomes what the next policy learns from, turn by turn."""
