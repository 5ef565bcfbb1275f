"""Runs all programs of this folder, under Numba or under what stands for it: `pyjitc run --as-numba run.py`, or
`python run.py`. Prints a line for each; exit code 1 when one failed."""
import importlib
import os
import sys
import time
import traceback


def main(names):
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    failed = 0
    for name in names or sorted(file[:-3] for file in os.listdir(here) if file.endswith(".py") and file != "run.py"):
        start = time.perf_counter()
        try:
            importlib.import_module(name).main()
            print(f"{name}: fine, {time.perf_counter() - start:.1f} s", flush=True)
        except Exception as error:
            failed += 1
            print(f"{name}: {type(error).__name__}: {error}", flush=True)
            traceback.print_exc()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
