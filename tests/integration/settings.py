"""The augments and the settings under which they must survive everything."""

from __future__ import annotations

from typing import Any

# One entry for each augment, for tests too slow to take every setting.
AUGMENTS: dict[str, dict[str, Any]] = {
    'ShuffleMix': dict(type='ShuffleMix', ratio=0.5),
    'ManifoldMixup': dict(type='ManifoldMixup'),
    'InputMixup': dict(type='InputMixup'),
    'NoisyFeatureMixup': dict(type='NoisyFeatureMixup'),
    'ShuffleMixNFM': dict(type='ShuffleMixNFM', mode='hard', per_sample=True),
}

SETTINGS: dict[str, dict[str, Any]] = {
    **AUGMENTS,
    'ShuffleMix-hard': dict(type='ShuffleMix', mode='hard', ratio=0.3),
    'ShuffleMix-per-sample': dict(type='ShuffleMix', per_sample=True, ratio=0.7),
    'ShuffleMix-threshold': dict(type='ShuffleMix', label_threshold=0.3),
    'ShuffleMix-all-channels': dict(type='ShuffleMix', ratio=1, alpha=2),
    'ShuffleMix-no-channels': dict(type='ShuffleMix', ratio=0.0),
    'ShuffleMix-alpha-0': dict(type='ShuffleMix', alpha=0),
    'ShuffleMix-hard-per-sample': dict(type='ShuffleMix', mode='hard', per_sample=True),
    'ManifoldMixup-per-sample': dict(type='ManifoldMixup', per_sample=True),
    'ManifoldMixup-threshold': dict(type='ManifoldMixup', label_threshold=0.5, alpha=0.2),
    'InputMixup-per-sample': dict(type='InputMixup', per_sample=True),
    'InputMixup-threshold': dict(type='InputMixup', label_threshold=0.1),
    'NoisyFeatureMixup-per-sample': dict(type='NoisyFeatureMixup', per_sample=True),
    'NoisyFeatureMixup-multiplicative': dict(type='NoisyFeatureMixup', add_noise=0, mult_noise=1),
    'ShuffleMixNFM-soft': dict(type='ShuffleMixNFM', alpha=0.5, ratio=0.25),
    'ShuffleMixNFM-threshold': dict(type='ShuffleMixNFM', label_threshold=1.0),
}

QUIET: dict[str, dict[str, Any]] = {
    name: setting | (dict(add_noise=0, mult_noise=0) if 'N' in setting['type'] else {})
    for name, setting in SETTINGS.items()
}
"""The same settings with noise off."""
