# ShuffleMix, hard: the channels are swapped and lambda is not used. Ablation: ratio=0.125 to 0.875.
augments = dict(type='ShuffleMix', ratio=0.5, mode='hard', layers='auto')
