"""An experiment: the wheel turned over live pages with what simulated annotators did, against demonstrations."""
