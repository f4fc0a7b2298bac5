# CIFAR-10, downloaded once into data/cifar10.
_base_ = ['cifar100.py']

data_preprocessor = dict(num_classes=10, mean=[125.3, 123.0, 113.9], std=[63.0, 62.1, 66.7])

train_dataloader = dict(dataset=dict(type='CIFAR10', data_root='data/cifar10'))
val_dataloader = train_dataloader
test_dataloader = train_dataloader
