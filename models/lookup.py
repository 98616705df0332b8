"""The tables by which the C++ tokeniser finds a token (recall/wordpiece.h, WordPiece::lookup), made once and kept in the blob."""
import struct

START, START_CONTINUED, FACTOR = 0x243F6A8885A308D3, 0x13198A2E03707344, 0x9E3779B97F4A7C15
ID_BITS, PREFIX, LONG = 20, 3, 31


def lookup(texts):
    """texts: the tokens' bytes, by number."""
    slots = 8
    while slots < len(texts) * 2:
        slots *= 2
    shift = 64 - (slots.bit_length() - 1)
    table, lengths = [0] * slots, [0] * (slots // 8)
    for number, text in enumerate(texts):
        continues = len(text) > 2 and text.startswith(b"##")
        text = text[2:] if continues else text
        value = prefix = START_CONTINUED if continues else START
        for i, byte in enumerate(text, 1):
            value = (value ^ byte) * FACTOR % 2**64
            prefix = value if i == PREFIX else prefix
        at = value >> shift
        while table[at]:
            at = (at + 1) % slots
        table[at] = value % 2**32 >> ID_BITS << ID_BITS | number + 1
        if len(text) >= PREFIX:
            lengths[prefix >> shift >> 3] |= 1 << min(len(text), LONG)
    return struct.pack(f"<{slots + slots // 8}I", *table, *lengths)
