//! Which addresses may be reached on a client's behalf.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::LazyLock;

use crate::conf::Cidr;

/// Networks that are not the public internet, or lead back from it.
const CLOSED: [&str; 32] = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "::/96",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "100:0:0:1::/64",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "2620:4f:8000::/48",
    "3fff::/20",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
    "::ffff:0:0:0/96",
    "2001:20::/28",
];

/// Where clouds keep the credentials of a machine; no setting opens these.
const METADATA: [&str; 6] =
    ["169.254.169.254/32", "169.254.170.2/32", "169.254.170.23/32", "100.100.100.200/32", "fd00:ec2::254/128", "fd20:ce::254/128"];

static CLOSED_NETWORKS: LazyLock<Vec<Cidr>> = LazyLock::new(|| parsed(&CLOSED));
static METADATA_NETWORKS: LazyLock<Vec<Cidr>> = LazyLock::new(|| parsed(&METADATA));

fn parsed(networks: &[&str]) -> Vec<Cidr> {
    networks.iter().filter_map(|text| text.parse().ok()).collect()
}

/// Ports of web servers. Others are reached only in networks an operator allows.
const WEB_PORTS: [u16; 4] = [80, 443, 8080, 8443];

/// Whether a connection may be made.
#[must_use]
pub(super) fn may_reach(address: SocketAddr, allow: &[Cidr]) -> bool {
    let ip = address.ip().to_canonical();
    let within = within(ip);
    let any = |networks: &[Cidr]| {
        let contains = |ip: IpAddr| networks.iter().any(|network| network.contains(ip));
        contains(ip) || within.is_some_and(contains)
    };
    if any(&METADATA_NETWORKS) {
        return false;
    }
    if allow.iter().any(|network| network.contains(ip)) {
        return true;
    }
    WEB_PORTS.contains(&address.port()) && !any(&CLOSED_NETWORKS)
}

/// The IPv4 address inside an IPv6 one that leads to it.
fn within(ip: IpAddr) -> Option<IpAddr> {
    let IpAddr::V6(v6) = ip else { return None };
    let bits = v6.to_bits();
    let v4 = |bits: u128| Some(IpAddr::V4(Ipv4Addr::from_bits(u32::try_from(bits & 0xffff_ffff).ok()?)));
    match v6.segments() {
        [0x64, 0xff9b, ..] | [0, 0, 0, 0, 0, 0, ..] | [0, 0, 0, 0, 0xffff, 0, ..] => v4(bits),
        [0x2002, ..] => v4(bits >> 80),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reaches(address: &str, allow: &[&str]) -> bool {
        may_reach(address.parse().unwrap(), &parsed(allow))
    }

    #[test]
    fn every_network_is_well_formed() {
        assert_eq!((CLOSED_NETWORKS.len(), METADATA_NETWORKS.len()), (CLOSED.len(), METADATA.len()));
    }

    #[test]
    fn only_the_public_internet_is_reached() {
        for open in ["8.8.8.8:443", "1.1.1.1:80", "[2606:4700:4700::1111]:443", "93.184.216.34:8080"] {
            assert!(reaches(open, &[]), "{open}");
        }
        for closed in [
            "127.0.0.1:80",
            "10.1.2.3:80",
            "172.31.0.1:443",
            "192.168.1.1:80",
            "169.254.169.254:80",
            "100.64.0.1:80",
            "0.0.0.0:80",
            "224.0.0.1:80",
            "255.255.255.255:80",
            "[::1]:80",
            "[::]:80",
            "[fe80::1]:80",
            "[fc00::1]:80",
            "[fec0::1]:80",
            "[ff02::1]:80",
            "[::ffff:127.0.0.1]:80",
            "[::7f00:1]:80",
            "[64:ff9b::7f00:1]:80",
            "[2002:7f00:1::]:80",
            "[2001:db8::1]:80",
            "[2001:0:1::1]:80",
            "[fd00:ec2::254]:80",
            "198.18.0.1:80",
            "8.8.8.8:22",
            "8.8.8.8:25",
            "8.8.8.8:6379",
        ] {
            assert!(!reaches(closed, &[]), "{closed}");
        }
    }

    #[test]
    fn an_operator_opens_networks_but_never_the_metadata_services() {
        assert!(reaches("127.0.0.1:6379", &["127.0.0.0/8"]));
        assert!(reaches("[::ffff:10.0.0.1]:80", &["10.0.0.0/8"]));
        assert!(!reaches("10.0.0.1:80", &["127.0.0.0/8"]));
        for metadata in ["169.254.169.254:80", "[::ffff:169.254.169.254]:80", "[64:ff9b::a9fe:a9fe]:80", "[fd00:ec2::254]:80"] {
            assert!(!reaches(metadata, &["0.0.0.0/0", "::/0"]), "{metadata}");
        }
    }
}
