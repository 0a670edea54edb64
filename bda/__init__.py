"""Bayesian deliberation aggregation: traces, evidence, posteriors, arms, selection."""
