//! Which addresses are public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is one that anybody on the internet could have: not this machine, not the local
/// network, not the metadata service of a cloud, not reserved for anything.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match embedded_v4(address) {
            Some(inner) => is_public_v4(inner),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    !matches!(
        (first, second, third),
        (0 | 10 | 127 | 224..=255, _, _)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 168, _)
            | (198, 18..=19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    )
}

/// Everything public is in `2000::/3`, but not all of that is.
fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        [0x2001, ..=0x01ff, ..] | [0x2001, 0x0db8, ..] | [0x3fff, ..=0x0fff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

/// The IPv4 address that a translator on the way would turn this one into.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let octets = address.octets();
    let at = |start: usize| {
        Some(Ipv4Addr::new(octets[start], octets[start + 1], octets[start + 2], octets[start + 3]))
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, _, _] | [0x64, 0xff9b, 0, 0, 0, 0, _, _] => at(12),
        [0x2002, ..] => at(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
