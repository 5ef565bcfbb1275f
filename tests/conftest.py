"""Every compile in the tests verifies its IR after each pass, in child processes too. Ctrl-C interrupts, also where a
shell started the tests in the background and so had it ignored: tests send it to themselves. No compiled code is found
on disk but in tests that name a folder for it."""
import os
import signal

os.environ["PYJITC_VERIFY"] = "1"
os.environ["PYJITC_CACHE_DIR"] = os.path.join(os.devnull, "nowhere")
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
