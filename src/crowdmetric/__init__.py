"""One metric for a crowd, and an ideal point for each person, from paired comparisons."""
