"""The steelyard command line."""
