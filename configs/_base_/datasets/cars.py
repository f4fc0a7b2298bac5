# Stanford Cars: cars_annos.mat with car_ims, or cars_train, cars_test and devkit. Pictures as those
# of FGVC-Aircraft: both sides become 512 pixels, the aspect is dropped.
_base_ = ['aircraft.py']

data_preprocessor = dict(num_classes=196)

cars = dict(type='StanfordCars', data_root='data/Stanford_Cars')
train_dataloader = dict(dataset=dict(split='train', **cars))
val_dataloader = dict(dataset=cars)
test_dataloader = dict(dataset=cars)
