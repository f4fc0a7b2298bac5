# MMPretrain's ResizeMix (arXiv 2012.11101) on every batch.
augments = dict(type='ResizeMix', alpha=1.0)
