"""Councils simulated, attacked and cached; dose-response studies.

Later releases fill this package; today it only reserves the name.
"""
