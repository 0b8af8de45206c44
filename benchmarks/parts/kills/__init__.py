"""A whole platform whose processes are killed and frozen while people work on it: the parts of `bench kills`."""
