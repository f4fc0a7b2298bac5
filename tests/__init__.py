"""Tests of mmshufflemix; the folders mirror the package."""
