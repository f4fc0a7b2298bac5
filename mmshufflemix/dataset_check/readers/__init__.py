"""Readers that note every fault of a data set's files and go on."""
