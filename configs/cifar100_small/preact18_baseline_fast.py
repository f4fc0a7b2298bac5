_base_ = ['preact18_baseline.py', '../_base_/fast_small_images.py']
