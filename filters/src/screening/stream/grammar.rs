//! Where in a JSON document the next byte stands. Strings and numbers are read elsewhere.

/// Nesting beyond this is not followed.
const DEEPEST: usize = 1024;

/// What a byte begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// Nothing: it is a bracket, a comma, a colon, a space or a letter of a word.
    Structure,
    /// A key, with this quote.
    Key,
    /// A string that is a value, with this quote.
    Text,
    Number,
    /// This is no JSON.
    Broken,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Expect {
    #[default]
    Value,
    ValueOrClose,
    Key,
    KeyOrClose,
    Colon,
    CommaOrClose,
    Nothing,
}

/// The place in a document.
#[derive(Debug, Default)]
pub(super) struct Grammar {
    /// Whether what is open is an object, from the outermost on.
    open: Vec<bool>,
    expect: Expect,
    /// What is to come of a word.
    word: &'static [u8],
}

impl Grammar {
    /// Goes on with the next byte that belongs to neither string nor number.
    pub(super) fn step(&mut self, byte: u8) -> Token {
        if let [next, rest @ ..] = self.word {
            self.word = rest;
            return if byte == *next { Token::Structure } else { Token::Broken };
        }
        match (byte, self.expect) {
            (b' ' | b'\t' | b'\n' | b'\r', _) => Token::Structure,
            (b'"', Expect::Key | Expect::KeyOrClose) => {
                self.expect = Expect::Colon;
                Token::Key
            }
            (b':', Expect::Colon) => {
                self.expect = Expect::Value;
                Token::Structure
            }
            (b',', Expect::CommaOrClose) => {
                self.expect = if self.open.last() == Some(&true) { Expect::Key } else { Expect::Value };
                Token::Structure
            }
            (b'}', Expect::KeyOrClose | Expect::CommaOrClose) => self.close(true),
            (b']', Expect::ValueOrClose | Expect::CommaOrClose) => self.close(false),
            (_, Expect::Value | Expect::ValueOrClose) => self.value(byte),
            _ => Token::Broken,
        }
    }

    /// Whether nothing is open.
    pub(super) const fn is_outside(&self) -> bool {
        self.open.is_empty()
    }

    fn value(&mut self, byte: u8) -> Token {
        match byte {
            b'{' | b'[' if self.open.len() < DEEPEST => {
                self.open.push(byte == b'{');
                self.expect = if byte == b'{' { Expect::KeyOrClose } else { Expect::ValueOrClose };
                return Token::Structure;
            }
            b't' => self.word = b"rue",
            b'f' => self.word = b"alse",
            b'n' => self.word = b"ull",
            b'"' | b'-' | b'0'..=b'9' => {}
            _ => return Token::Broken,
        }
        self.ended();
        match byte {
            b'"' => Token::Text,
            b'-' | b'0'..=b'9' => Token::Number,
            _ => Token::Structure,
        }
    }

    fn ended(&mut self) {
        self.expect = if self.open.is_empty() { Expect::Nothing } else { Expect::CommaOrClose };
    }

    fn close(&mut self, object: bool) -> Token {
        if self.open.pop() != Some(object) {
            return Token::Broken;
        }
        self.ended();
        Token::Structure
    }
}
