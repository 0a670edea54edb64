"""Calibration: metrics, their uncertainty, recalibration and decisions."""
