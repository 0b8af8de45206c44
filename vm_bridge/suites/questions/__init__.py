"""Browsing questions: composed from a knowledge source, kept only if one answer is left, and answered on its site."""

from vm_bridge.suites.questions.suite import QuestionSuite

__all__ = ["QuestionSuite"]
