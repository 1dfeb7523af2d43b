"""The protocol between gateway and agent, sans I/O: bytes and moments in, bytes and events out.

    link        the state of one connection: handshake, order, acknowledgement, heartbeat
    ├── handshake   who is on the other side (R12)
    ├── envelope    what either side signed for the other (R16)
    │   └── bodies      what an envelope can say
    └── frames      what one WebSocket message can be (R2)
    pairing     how two machines first come to know each other's keys (R9, R10)
    codec       closed records, base64 and addresses: what all of the above are read with

No module here waits, reads a clock or opens anything.  Import from the modules.
"""
