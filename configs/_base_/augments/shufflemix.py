# ShuffleMix, soft, with the settings of the tables: half of the channels of the input or of one of
# the four stages. Ablations: ratio=0.125 to 0.875, alpha=0.5 to 8.0.
augments = dict(type='ShuffleMix', alpha=1.0, ratio=0.5, mode='soft', layers='auto')
