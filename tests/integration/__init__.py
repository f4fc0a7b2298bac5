"""Every augment through the whole life of a training job."""
