"""A client of websockets (RFC 6455) that can break their rules."""

import base64
import hashlib
import struct

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
KEY = "dGhlIHNhbXBsZSBub25jZQ=="
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
NORMAL, PROTOCOL_ERROR = 1000, 1002
FIELDS = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Key": KEY,
    "Sec-WebSocket-Version": "13",
    "Origin": "http://localhost",
}


def fields(changes=None):
    """The header fields of a request; a value None leaves one out."""
    merged = {**FIELDS, **(changes or {})}
    return "".join(f"{name}: {value}\r\n" for name, value in merged.items() if value is not None)


def accept(key=KEY):
    return base64.b64encode(hashlib.sha1(key.encode() + GUID).digest()).decode()


def frame(opcode, payload=b"", mask=b"\1\2\3\4", first=0x80):
    """A client's frame, `first` with the bits beside the opcode; without a mask it is invalid."""
    out = bytes([first | opcode])
    size, masked = len(payload), 0x80 if mask else 0
    if size < 126:
        out += bytes([masked | size])
    elif size < 65536:
        out += bytes([masked | 126]) + struct.pack(">H", size)
    else:
        out += bytes([masked | 127]) + struct.pack(">Q", size)
    if not mask:
        return out + payload
    return out + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))


def take(wire):
    """The next frame of the server: its opcode and payload. It is whole and has no mask."""
    first, second = wire.take(2)
    assert first & 0xF0 == 0x80 and second < 128, (first, second)
    size = second
    if size == 126:
        (size,) = struct.unpack(">H", wire.take(2))
    elif size == 127:
        (size,) = struct.unpack(">Q", wire.take(8))
    return first & 0x0F, wire.take(size)
