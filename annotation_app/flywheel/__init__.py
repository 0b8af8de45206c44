"""The flywheel: cycles in which the work of people and policies becomes training data of the next policy."""
