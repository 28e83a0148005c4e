//! Which addresses are of the public internet. What a name leads to is asked only after it was looked up, so that a name that is allowed
//! cannot lead to a service of this machine, its neighbours or its cloud.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether anyone on the internet would mean the same by it (IANA's registries of special-purpose addresses).
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        // Shared with providers (metadata services of some clouds live there), protocol assignments, benchmarks.
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b));
    !special
}

/// Only what is given out to the world (2000::/3), and of that nothing that holds another address in itself.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    let is_global = (a & 0xe000) == 0x2000;
    // Teredo and other protocol assignments, documentation, 6to4, documentation again.
    let special = match a {
        0x2001 => b < 0x0200 || b == 0x0db8,
        0x2002 => true,
        0x3fff => b < 0x1000,
        _ => false,
    };
    is_global && !special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_internet_is_public() {
        for (text, want) in [
            ("1.1.1.1", true),
            ("93.184.216.34", true),
            ("172.32.0.1", true),
            ("100.63.0.1", true),
            ("2606:4700:4700::1111", true),
            ("2a00:1450:4001::1", true),
            ("127.0.0.1", false),
            ("10.1.2.3", false),
            ("172.17.0.1", false),
            ("192.168.1.1", false),
            ("169.254.169.254", false),
            ("100.100.100.200", false),
            ("0.0.0.0", false),
            ("192.0.0.192", false),
            ("198.18.0.1", false),
            ("203.0.113.7", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("::", false),
            ("::1", false),
            ("::ffff:169.254.169.254", false),
            ("::ffff:8.8.8.8", false),
            ("64:ff9b::a9fe:a9fe", false),
            ("2002:a9fe:a9fe::", false),
            ("2001:0:1::1", false),
            ("2001:db8::1", false),
            ("fe80::1", false),
            ("fd00:ec2::254", false),
            ("ff02::1", false),
        ] {
            assert_eq!(is_public(text.parse().unwrap()), want, "{text}");
        }
    }
}
