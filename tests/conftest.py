"""Every compile in the tests verifies its IR after each pass, in child processes too."""
import os

os.environ["PYJITC_VERIFY"] = "1"
