"""The protocol between gateway and agent, sans I/O: bytes and moments in, bytes and events out.

    link        the state of one connection: handshake, order, acknowledgement, heartbeat
    ├── handshake     who is on the other side (R12)
    ├── envelope      what either side signed for the other (R16), its next key too
    │   └── bodies        what an envelope can say
    ├── frames        what one WebSocket message can be (R2)
    ├── flow_control  numbers, silence, and how much one side may send
    └── link_events   what the shell is told, and how links end
    pairing     how two machines first come to know each other's keys (R9, R10)
    codec       closed records, base64 and addresses: what all of the above are read with

No module here waits, reads a clock or opens anything.  Import from the modules.
"""
