"""What holds for every test: none of them reaches a hub."""

import os

# read when the hub's client is imported, here and in the processes that tests start
os.environ.setdefault("HF_HUB_OFFLINE", "1")
