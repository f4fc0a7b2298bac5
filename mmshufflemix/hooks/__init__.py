"""Runner hooks, registered in MMPretrain's HOOKS."""
