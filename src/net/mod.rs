//! One connection: pipeline, socket, handshake, mailbox.
