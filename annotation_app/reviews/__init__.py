"""Reviewing what annotators did: who decides, what they say of each step, how it is mended, how far people agree."""
