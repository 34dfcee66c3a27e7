//! `egress`: private networks that may be reached on an operator's behalf.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Destinations allowed beyond the public internet, for webhooks, image fetches and model servers.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Egress {
    /// Networks such as `10.0.0.0/8`. The hosts of declared providers are always allowed.
    pub allow: Vec<Cidr>,
}

/// A network: an address and the number of leading bits that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cidr {
    address: IpAddr,
    prefix: u8,
}

/// Why a text is not a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a network such as 10.0.0.0/8 or fd00::/8, with no bits set behind the prefix")]
pub struct NotANetwork;

impl Cidr {
    /// Whether the address lies in this network. IPv4 addresses written as IPv6 count as IPv4.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_ipv4() == self.address.is_ipv4() && masked(address, self.prefix) == bits(self.address)
    }
}

impl FromStr for Cidr {
    type Err = NotANetwork;

    fn from_str(text: &str) -> Result<Self, NotANetwork> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| NotANetwork)?;
        let widest = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().map_err(|_| NotANetwork)?,
            Some(_) => return Err(NotANetwork),
            None => widest,
        };
        if prefix > widest || masked(address, prefix) != bits(address) {
            return Err(NotANetwork);
        }
        Ok(Self { address, prefix })
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(v4.to_bits()) << 96,
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

fn masked(address: IpAddr, prefix: u8) -> u128 {
    let mask = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
    bits(address) & mask
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl Serialize for Cidr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Cidr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for Cidr {
    fn schema_name() -> Cow<'static, str> {
        "Network".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"description": "A network such as 10.0.0.0/8 or fd00::/8.", "type": "string", "pattern": r"^[0-9a-fA-F.:]+(/[0-9]{1,3})?$"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(network: &str, address: &str) -> bool {
        network.parse::<Cidr>().unwrap().contains(address.parse().unwrap())
    }

    #[test]
    fn a_network_contains_its_own_addresses_only() {
        assert!(inside("10.0.0.0/8", "10.255.0.1"));
        assert!(!inside("10.0.0.0/8", "11.0.0.1"));
        assert!(inside("10.0.0.0/8", "::ffff:10.1.2.3"), "a mapped address is the same host");
        assert!(inside("192.168.1.7", "192.168.1.7"));
        assert!(!inside("192.168.1.7", "192.168.1.8"));
        assert!(inside("0.0.0.0/0", "203.0.113.9"));
        assert!(!inside("0.0.0.0/0", "2001:db8::1"));
        assert!(inside("fd00::/8", "fdff::1"));
    }

    #[test]
    fn malformed_networks_are_refused() {
        for text in ["", "10.0.0.0/33", "10.0.0.1/8", "10.0.0/8", "fd00::/129", "10.0.0.0/+8", "10.0.0.0/", "host/8"] {
            assert_eq!(text.parse::<Cidr>(), Err(NotANetwork), "{text}");
        }
    }
}
