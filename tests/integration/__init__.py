"""Tests with real servers, desktops and browsers."""
