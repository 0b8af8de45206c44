"""The nano policy: a small Qwen2.5-VL that reads and works screens of 320 by 240, and how it is taught from nothing."""
