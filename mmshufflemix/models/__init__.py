"""Backbones, necks and heads, registered in MMPretrain's MODELS."""
