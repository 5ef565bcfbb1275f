"""Kernels run on the CPU here, whatever the machine has; tests of a device set their own."""
import os

os.environ.setdefault("PYJITC_CUDA", "cpu")
