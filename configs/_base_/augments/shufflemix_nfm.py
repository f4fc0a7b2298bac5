# ShuffleMix, soft, then the noise of NFM. Noise as in the released scripts; the text of the paper
# exchanges the two: add_noise=0.2, mult_noise=0.4.
augments = dict(
    type='ShuffleMixNFM',
    alpha=1.0,
    ratio=0.5,
    mode='soft',
    layers='auto',
    add_noise=0.4,
    mult_noise=0.2,
)
