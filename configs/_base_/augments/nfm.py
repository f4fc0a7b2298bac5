# Noisy Feature Mixup (arXiv 2110.02180). Noise as in the released scripts, NFM's own too; the text
# of the ShuffleMix paper exchanges the two: add_noise=0.2, mult_noise=0.4.
augments = dict(type='NoisyFeatureMixup', alpha=1.0, layers='auto', add_noise=0.4, mult_noise=0.2)
