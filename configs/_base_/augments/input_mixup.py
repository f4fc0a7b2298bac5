# Input Mixup (arXiv 1710.09412): all channels of the images, one lambda a batch.
augments = dict(type='InputMixup', alpha=1.0)
