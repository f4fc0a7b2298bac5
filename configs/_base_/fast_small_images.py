# Small images of one size: all in memory, cropped and flipped in batches. For configs that import
# mmshufflemix in custom_imports, as default_runtime.py does; in others the name is
# 'mmshufflemix.SmallImageRunner'.
runner_type = 'SmallImageRunner'
