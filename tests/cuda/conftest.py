"""In these tests kernels run on the CPU, also where there is a GPU; tests of a device set their own devices."""
import os

os.environ.setdefault("PYJITC_CUDA", "cpu")
