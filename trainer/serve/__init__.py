"""A small OpenAI-compatible model server for checkpoints that a processor can run; `python -m trainer.serve FOLDER`."""
