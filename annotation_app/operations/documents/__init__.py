"""What is checked of the documentation's pages: links, headings, and the length of sentences."""
