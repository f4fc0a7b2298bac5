# MMPretrain's CutMix (arXiv 1905.04899) on every batch. On half of them, as in its authors' code
# for CIFAR: model.train_cfg.probs=[0.5].
augments = dict(type='CutMix', alpha=1.0)
