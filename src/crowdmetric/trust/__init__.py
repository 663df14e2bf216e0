"""What to trust: people and their answers, before and after a fit."""
