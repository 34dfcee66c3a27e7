//! Where an HTTP/1.1 body ends, for bytes that arrive in pieces of any size (RFC 9112, sections 6 and 7).

use std::io;

const LARGEST_CHUNK: u64 = 1 << 30;

/// Takes the framing off one body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Framing(State);

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// `content-length`: bytes still to come.
    Length(u64),
    /// No length given: the body ends with the connection.
    UntilClose,
    /// In the hexadecimal size that opens a chunk.
    Size(u64),
    /// In what may follow the size on its line.
    Extension(u64),
    /// In the data of a chunk, with this much to come.
    Data(u64),
    /// In the line end that closes a chunk.
    AfterData,
    /// In the lines after the last chunk.
    Trailer {
        line_is_empty: bool,
    },
    Done,
}

impl Framing {
    /// A body whose length the head stated.
    #[must_use]
    pub fn length(bytes: u64) -> Self {
        Self(if bytes == 0 { State::Done } else { State::Length(bytes) })
    }

    /// A body in chunks.
    #[must_use]
    pub fn chunked() -> Self {
        Self(State::Size(0))
    }

    /// A body that ends with the connection.
    #[must_use]
    pub fn until_close() -> Self {
        Self(State::UntilClose)
    }

    /// Whether the whole body has been seen.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.0 == State::Done
    }

    /// Whether closing the connection here is a proper end.
    #[must_use]
    pub fn may_close(&self) -> bool {
        matches!(self.0, State::Done | State::UntilClose)
    }

    /// Hands the content in `input` to `content` and returns how many bytes of `input` belong to this body.
    ///
    /// # Errors
    /// When the chunk framing is broken.
    pub fn feed(&mut self, input: &[u8], mut content: impl FnMut(&[u8])) -> io::Result<usize> {
        let mut rest = input;
        while !self.is_done() && !rest.is_empty() {
            rest = match self.0 {
                State::Length(left) | State::Data(left) => self.take(left, rest, &mut content),
                State::UntilClose => {
                    content(rest);
                    &[]
                }
                _ => self.control_byte(rest)?,
            };
        }
        Ok(input.len() - rest.len())
    }

    fn take<'a>(&mut self, left: u64, input: &'a [u8], content: &mut impl FnMut(&[u8])) -> &'a [u8] {
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
        let (data, rest) = input.split_at_checked(wanted).unwrap_or((input, &[]));
        content(data);
        let left = left - u64::try_from(data.len()).unwrap_or(left);
        self.0 = match (&self.0, left) {
            (State::Length(_), 0) => State::Done,
            (State::Length(_), left) => State::Length(left),
            (_, 0) => State::AfterData,
            (_, left) => State::Data(left),
        };
        rest
    }

    fn control_byte<'a>(&mut self, input: &'a [u8]) -> io::Result<&'a [u8]> {
        let Some((&byte, rest)) = input.split_first() else { return Ok(input) };
        self.0 = match (&self.0, byte) {
            (state, b'\r') => state.clone(),
            (State::Size(0) | State::Extension(0), b'\n') => State::Trailer { line_is_empty: true },
            (State::Size(size) | State::Extension(size), b'\n') => State::Data(*size),
            (State::Size(size), b';' | b' ') => State::Extension(*size),
            (State::Size(size), digit) => State::Size(longer_size(*size, digit)?),
            (State::Extension(size), _) => State::Extension(*size),
            (State::AfterData, b'\n') => State::Size(0),
            (State::Trailer { line_is_empty: true }, b'\n') => State::Done,
            (State::Trailer { .. }, b'\n') => State::Trailer { line_is_empty: true },
            (State::Trailer { .. }, _) => State::Trailer { line_is_empty: false },
            _ => return Err(broken("a chunk is longer than its size")),
        };
        Ok(rest)
    }
}

fn longer_size(size: u64, digit: u8) -> io::Result<u64> {
    let value = char::from(digit).to_digit(16).ok_or_else(|| broken("a chunk size is not hexadecimal"))?;
    let size = size * 16 + u64::from(value);
    if size > LARGEST_CHUNK { Err(broken("a chunk is larger than 1 GiB")) } else { Ok(size) }
}

fn broken(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(mut framing: Framing, pieces: &[&[u8]]) -> (Vec<u8>, usize, bool) {
        let (mut body, mut used) = (Vec::new(), 0);
        for piece in pieces {
            used += framing.feed(piece, |data| body.extend_from_slice(data)).unwrap();
        }
        (body, used, framing.is_done())
    }

    #[test]
    fn any_split_of_a_chunked_body_gives_the_same_content() {
        let wire = b"5;name=x\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\nx-after: 1\r\n\r\n";
        for at in 0..=wire.len() {
            let (left, right) = wire.split_at(at);
            assert_eq!(decode(Framing::chunked(), &[left, right]), (b"hello world".to_vec(), wire.len(), true), "split at {at}");
        }
    }

    #[test]
    fn bytes_after_the_body_are_left_alone() {
        assert_eq!(decode(Framing::length(3), &[b"abcHTTP"]), (b"abc".to_vec(), 3, true));
        assert_eq!(decode(Framing::chunked(), &[b"1\r\na\r\n0\r\n\r\nHTTP"]), (b"a".to_vec(), 11, true));
        assert_eq!(decode(Framing::length(0), &[b"HTTP"]), (Vec::new(), 0, true));
    }

    #[test]
    fn broken_chunks_are_refused() {
        for wire in [&b"zz\r\n"[..], b"1\r\nab", b"fffffffff\r\n"] {
            assert!(Framing::chunked().feed(wire, |_| ()).is_err(), "{wire:?}");
        }
    }
}
