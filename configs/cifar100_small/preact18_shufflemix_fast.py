_base_ = ['preact18_shufflemix.py', '../_base_/fast_small_images.py']
