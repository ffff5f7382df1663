"""Runs a saved program on one array: load_and_run.py DIRECTORY INPUT.npy OUTPUT.npy; it has no model code."""

import sys

import numpy as np

import torchere


def main(directory: str, source: str, target: str) -> None:
    program = torchere.load(directory)
    result = program(np.load(source))
    np.save(target, np.asarray(result))
    print(f"loaded {directory}; torchvision is {'' if 'torchvision' in sys.modules else 'not '}imported here")


if __name__ == "__main__":
    main(*sys.argv[1:])
