//! Reads the tree into the types of the configuration, keeping track of place and path.

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor, value};
use serde::forward_to_deserialize_any;

use super::de_error::DeError;
use super::error::Problem;
use super::node::{Entry, Node, Scalar, Value};
use super::resolve::{Resolved, resolve};

/// Reads a document into a type.
pub(super) fn from_tree<'de, T: Deserialize<'de>>(root: &'de Node, origin: &str) -> Result<T, Box<Problem>> {
    T::deserialize(NodeReader(root)).map_err(|error| Box::new(error.into_problem(origin, root.mark)))
}

#[derive(Clone, Copy)]
struct NodeReader<'de>(&'de Node);

impl<'de> NodeReader<'de> {
    /// Reads by what was written; `scalar` says what a scalar stands for.
    fn read<V: Visitor<'de>>(self, visitor: V, scalar: impl FnOnce(&'de Scalar) -> Resolved<'de>) -> Result<V::Value, DeError> {
        let result = match &self.0.value {
            Value::List(items) => visitor.visit_seq(Items { items: items.iter().enumerate() }),
            Value::Map(entries) => visitor.visit_map(Entries { entries: entries.iter(), current: None }),
            Value::Scalar(text) => match scalar(text) {
                Resolved::Null => visitor.visit_unit(),
                Resolved::Bool(value) => visitor.visit_bool(value),
                Resolved::Unsigned(value) => visitor.visit_u64(value),
                Resolved::Signed(value) => visitor.visit_i64(value),
                Resolved::Float(value) => visitor.visit_f64(value),
                Resolved::Text(value) => visitor.visit_borrowed_str(value),
            },
        };
        result.map_err(|error| error.locate(self.0.mark))
    }

    /// A value that came from a variable may be quoted and still be a number or a truth value.
    fn number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.read(visitor, |scalar| if scalar.expanded { resolve(&scalar.text) } else { scalar.resolved() })
    }

    /// A value that came from a variable is text even where it looks like a number.
    fn text<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.read(visitor, |scalar| if scalar.expanded { Resolved::Text(&scalar.text) } else { scalar.resolved() })
    }

    fn is_nothing(self) -> bool {
        matches!(&self.0.value, Value::Scalar(scalar) if scalar.is_nothing())
    }
}

macro_rules! numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
            self.number(visitor)
        })*
    };
}

impl<'de> de::Deserializer<'de> for NodeReader<'de> {
    type Error = DeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.read(visitor, Scalar::resolved)
    }

    numbers! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.text(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        self.text(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        if self.is_nothing() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    /// A section whose lines are all commented out is an empty one.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        if self.is_nothing() { visitor.visit_seq(Items { items: [].iter().enumerate() }) } else { self.deserialize_any(visitor) }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        if self.is_nothing() {
            return visitor.visit_map(Entries { entries: [].iter(), current: None }).map_err(|error| error.locate(self.0.mark));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(self, _: &'static str, _: &'static [&'static str], visitor: V) -> Result<V::Value, DeError> {
        match &self.0.value {
            Value::List(_) => Err(DeError::expected("a mapping", "a list").locate(self.0.mark)),
            Value::Map(_) | Value::Scalar(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, DeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeError> {
        let mark = self.0.mark;
        let result = match &self.0.value {
            Value::Scalar(scalar) => visitor.visit_enum(Variant { name: &scalar.text, content: None }),
            Value::Map(entries) => match entries.as_slice() {
                [only] => visitor.visit_enum(Variant { name: &only.key, content: Some(only) }).map_err(|error| error.locate(only.key_mark)),
                _ => Err(DeError::new(format!("expected exactly one of {}", variants.join(", ")))),
            },
            Value::List(_) => Err(DeError::expected("a name", "a list")),
        };
        result.map_err(|error| error.locate(mark))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { char bytes byte_buf unit unit_struct tuple tuple_struct identifier }
}

struct Items<'de> {
    items: std::iter::Enumerate<std::slice::Iter<'de, Node>>,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = DeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, DeError> {
        let Some((index, item)) = self.items.next() else { return Ok(None) };
        seed.deserialize(NodeReader(item)).map(Some).map_err(|error| error.locate(item.mark).in_index(index))
    }
}

struct Entries<'de> {
    entries: std::slice::Iter<'de, Entry>,
    current: Option<&'de Entry>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = DeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DeError> {
        self.current = self.entries.next();
        let Some(entry) = self.current else { return Ok(None) };
        let key: value::StrDeserializer<'de, DeError> = entry.key.as_str().into_deserializer();
        seed.deserialize(key).map(Some).map_err(|error| error.locate(entry.key_mark).in_key(&entry.key))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, DeError> {
        let Some(entry) = self.current else { return Err(DeError::new("a value without its key".to_owned())) };
        seed.deserialize(NodeReader(&entry.value)).map_err(|error| error.locate(entry.value.mark).in_key(&entry.key))
    }
}

/// A name, alone or as the only key of a mapping.
struct Variant<'de> {
    name: &'de str,
    content: Option<&'de Entry>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = DeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), DeError> {
        let name: value::StrDeserializer<'de, DeError> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = DeError;

    fn unit_variant(self) -> Result<(), DeError> {
        match self.content {
            None => Ok(()),
            Some(_) => Err(DeError::expected("a name", "a mapping")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, DeError> {
        let Some(entry) = self.content else { return Err(DeError::new(format!("expected a mapping such as {{{}: …}}", self.name))) };
        seed.deserialize(NodeReader(&entry.value)).map_err(|error| error.locate(entry.value.mark).in_key(&entry.key))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, DeError> {
        Err(DeError::new("lists are not used here".to_owned()))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, DeError> {
        let Some(entry) = self.content else { return Err(DeError::new(format!("expected a mapping such as {{{}: …}}", self.name))) };
        de::Deserializer::deserialize_map(NodeReader(&entry.value), visitor).map_err(|error| error.in_key(&entry.key))
    }
}
