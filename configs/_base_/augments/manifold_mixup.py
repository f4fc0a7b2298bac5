# Manifold Mixup (arXiv 1806.05236): all channels of the input or of one of the four stages, as for
# ShuffleMix. Its own paper takes fewer layers: layers=[0, 1, 2].
augments = dict(type='ManifoldMixup', alpha=1.0, layers='auto')
