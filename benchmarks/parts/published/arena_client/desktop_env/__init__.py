"""Stands for WindowsAgentArena's package: the names and calls that our evaluator uses, in code of our own.

Like that package it only logs a guest that does not answer, and scores 0 where a getter raises.
"""
