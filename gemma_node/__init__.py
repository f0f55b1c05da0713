"""Robots decide on the edge: topic messages in, validated tool calls out, on Gemma 4 E4B."""

__version__ = '0.1.0'
