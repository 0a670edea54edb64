"""Belief-graph mathematics: strengths, propagation, gradients, patches and scores.

Later releases fill this package; today it only reserves the name.
"""
