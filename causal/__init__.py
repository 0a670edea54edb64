"""Causal records: typed claims, graphs, queries and a verdict on identification.

Later releases fill this package; today it only reserves the name.
"""
