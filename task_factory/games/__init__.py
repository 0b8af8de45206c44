"""Games that a language model writes, and the check that accepts them without one."""
