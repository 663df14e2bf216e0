"""How far to trust what was found: the people's own consistency, and what follows from it."""

from crowdmetric.trust.self_agreement import People, people, repeated_questions

__all__ = ["People", "people", "repeated_questions"]
