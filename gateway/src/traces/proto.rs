//! Protocol buffers as far as OTLP needs them: fields appended to bytes.

/// A message being written.
#[derive(Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// The bytes.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// A field of the types `int64`, `uint64`, `bool` and of enums.
    pub(super) fn number(mut self, field: u32, value: u64) -> Self {
        self.key(field, 0);
        self.varint(value);
        self
    }

    /// A field of the types `fixed64` and `double`.
    pub(super) fn eight(mut self, field: u32, value: [u8; 8]) -> Self {
        self.key(field, 1);
        self.0.extend_from_slice(&value);
        self
    }

    /// A field of the type `fixed32`.
    pub(super) fn four(mut self, field: u32, value: u32) -> Self {
        self.key(field, 5);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// A field of the types `bytes` and `string`, or another message.
    pub(super) fn bytes(self, field: u32, value: &[u8]) -> Self {
        self.head(field, value.len()).raw(value)
    }

    /// The head of a field of so many bytes that follow.
    pub(super) fn head(mut self, field: u32, length: usize) -> Self {
        self.key(field, 2);
        self.varint(u64::try_from(length).unwrap_or(u64::MAX));
        self
    }

    /// Bytes as they are: whole fields, or what follows a head.
    pub(super) fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Another message.
    pub(super) fn message(self, field: u32, message: Self) -> Self {
        self.bytes(field, &message.0)
    }

    fn key(&mut self, field: u32, wire: u32) {
        self.varint(u64::from(field << 3 | wire));
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the encoding guide of Protocol Buffers.
    #[test]
    fn fields_are_written_as_the_guide_has_them() {
        assert_eq!(Message::default().number(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::default().bytes(2, b"testing").into_bytes(), [0x12, 7, b't', b'e', b's', b't', b'i', b'n', b'g']);
        assert_eq!(Message::default().message(3, Message::default().number(1, 150)).into_bytes(), [0x1a, 3, 0x08, 0x96, 0x01]);
        assert_eq!(Message::default().number(1, u64::MAX).into_bytes(), [[0x08].as_slice(), &[0xff; 9], &[1]].concat());
        assert_eq!(Message::default().four(16, 1).into_bytes(), [0x85, 0x01, 1, 0, 0, 0]);
        assert_eq!(Message::default().eight(7, 2_u64.to_le_bytes()).into_bytes(), [0x39, 2, 0, 0, 0, 0, 0, 0, 0]);
    }
}
