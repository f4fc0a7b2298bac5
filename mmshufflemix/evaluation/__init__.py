"""Metrics, registered in MMPretrain's METRICS."""
