//! Bodies made at random, written with random escapes, and what they have to be once they are masked.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Map, Value};

use super::*;

const SNIPPETS: [&str; 22] = [
    "4111111111111111",
    "4111 1111 1111 1111",
    "４１１１1111１１１１1111",
    "4111\u{200b}111111111111",
    "secret",
    "secr",
    "et",
    " ",
    "\n",
    "\"",
    "\\",
    "/",
    "é",
    "😀",
    "\u{1}",
    "{\"a\":1}",
    "x",
    "hello ",
    "1",
    "-",
    "data:image/png;base64,",
    "\\u0034",
];

/// A value and what is a text in it.
pub(super) enum Piece {
    /// What stays as it is.
    Fixed(Value),
    /// A text at a place.
    Text(Place, String),
    /// A number that is a text.
    Number(Place, String),
    /// JSON in a string.
    Inside(Box<Piece>),
    List(Vec<Piece>),
    Object(Vec<(String, Piece)>),
}

pub(super) fn object<const N: usize>(members: [(&str, Piece); N]) -> Piece {
    Piece::Object(members.into_iter().map(|(key, piece)| (key.to_owned(), piece)).collect())
}

pub(super) fn fixed(value: impl Into<Value>) -> Piece {
    Piece::Fixed(value.into())
}

impl Piece {
    /// The value once it is masked.
    pub(super) fn masked(&self, rules: &RuleSet) -> Value {
        let mask = |place: Place, text: &str| rules.mask(text, &rules.scan(place, text)).into_owned();
        match self {
            Self::Fixed(value) => value.clone(),
            Self::Text(place, text) => mask(*place, text).into(),
            Self::Number(place, text) => match mask(*place, text) {
                same if same == *text => serde_json::from_str(text).unwrap(),
                other => other.into(),
            },
            Self::Inside(inner) => inner.masked(rules),
            Self::List(pieces) => pieces.iter().map(|piece| piece.masked(rules)).collect(),
            Self::Object(members) => members.iter().map(|(key, piece)| (key.clone(), piece.masked(rules))).collect::<Map<_, _>>().into(),
        }
    }

    /// A value as it was read, JSON inside of strings read as well.
    pub(super) fn read(&self, value: &Value) -> Value {
        match (self, value) {
            (Self::Inside(inner), Value::String(text)) => {
                let value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in the JSON inside: {text}"));
                inner.read(&value)
            }
            (Self::List(pieces), Value::Array(values)) => pieces.iter().zip(values).map(|(piece, value)| piece.read(value)).collect(),
            (Self::Object(members), Value::Object(values)) => {
                members.iter().filter_map(|(key, piece)| Some((key.clone(), piece.read(values.get(key)?)))).collect::<Map<_, _>>().into()
            }
            _ => value.clone(),
        }
    }

    /// How many texts are in it that are not empty.
    pub(super) fn texts(&self) -> usize {
        match self {
            Self::Fixed(_) => 0,
            Self::Text(_, text) => usize::from(!text.is_empty()),
            Self::Number(..) => 1,
            Self::Inside(inner) => inner.texts(),
            Self::List(pieces) => pieces.iter().map(Self::texts).sum(),
            Self::Object(members) => members.iter().map(|(_, piece)| piece.texts()).sum(),
        }
    }
}

/// Chance, the same for the same seed.
pub(super) struct Chance(StdRng);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(StdRng::seed_from_u64(seed))
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0.random_range(0..end)
    }

    pub(super) fn words(&mut self) -> String {
        (0..self.below(6)).filter_map(|_| SNIPPETS.choose(&mut self.0).copied()).collect()
    }

    pub(super) fn text(&mut self, place: Place) -> Piece {
        Piece::Text(place, self.words())
    }

    /// A list of up to three.
    pub(super) fn list(&mut self, mut one: impl FnMut(&mut Self) -> Piece) -> Piece {
        let length = self.below(4);
        Piece::List((0..length).map(|_| one(self)).collect())
    }

    /// JSON of somebody's own.
    pub(super) fn own(&mut self, place: Place, depth: usize) -> Piece {
        let kinds = if depth > 3 { 4 } else { 6 };
        match self.below(kinds) {
            0 | 1 => self.text(place),
            2 => Piece::Number(place, ["4111111111111111", "-1.5e3", "0", "4111111111111112"].choose(&mut self.0).unwrap().to_string()),
            3 => fixed([Value::Null, true.into(), false.into()].choose(&mut self.0).unwrap().clone()),
            4 => self.list(|chance| chance.own(place, depth + 1)),
            _ => self.own_object(place, depth),
        }
    }

    pub(super) fn own_object(&mut self, place: Place, depth: usize) -> Piece {
        let names = ["id", "type", "data", "4111111111111111", "k\"\\\n"];
        let length = self.below(names.len());
        Piece::Object(names.iter().take(length).map(|name| ((*name).to_owned(), self.own(place, depth + 1))).collect())
    }

    /// Base64 of random bytes.
    pub(super) fn picture(&mut self) -> String {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        (0..self.below(100)).filter_map(|_| alphabet.choose(&mut self.0).map(|byte| char::from(*byte))).collect()
    }

    /// JSON of the piece, every character escaped or not by chance, with white space by chance.
    pub(super) fn write(&mut self, piece: &Piece, out: &mut String) {
        self.space(out);
        match piece {
            Piece::Fixed(Value::String(text)) | Piece::Text(_, text) => self.string(text, out),
            Piece::Fixed(value) => out.push_str(&value.to_string()),
            Piece::Number(_, text) => out.push_str(text),
            Piece::Inside(inner) => {
                let mut json = String::new();
                self.write(inner, &mut json);
                self.string(&json, out);
            }
            Piece::List(pieces) => self.bracketed("[]", pieces, out, |chance, piece, out| chance.write(piece, out)),
            Piece::Object(members) => self.bracketed("{}", members, out, |chance, (key, piece), out| {
                chance.string(key, out);
                chance.space(out);
                out.push(':');
                chance.write(piece, out);
            }),
        }
        self.space(out);
    }

    fn bracketed<T>(&mut self, brackets: &str, all: &[T], out: &mut String, one: impl Fn(&mut Self, &T, &mut String)) {
        out.push_str(&brackets[..1]);
        for (at, piece) in all.iter().enumerate() {
            out.push_str(if at > 0 { "," } else { "" });
            one(self, piece, out);
        }
        out.push_str(&brackets[1..]);
    }

    fn space(&mut self, out: &mut String) {
        out.push_str(["", "", "", " ", "\n\t"].choose(&mut self.0).unwrap());
    }

    fn string(&mut self, text: &str, out: &mut String) {
        let often = self.below(4) + 1;
        out.push('"');
        for character in text.chars() {
            let short = match character {
                '"' | '\\' | '/' => Some(character),
                '\n' => Some('n'),
                '\t' => Some('t'),
                _ => None,
            };
            let needed = matches!(character, '"' | '\\') || character < ' ';
            match short {
                Some(short) if (needed || self.below(often) > 0) && self.below(4) > 0 => out.extend(['\\', short]),
                _ if needed || self.below(4 * often) > 4 * often - 3 => {
                    character.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
                }
                _ => out.push(character),
            }
        }
        out.push('"');
    }
}
