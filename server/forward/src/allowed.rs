//! The names that a trial may reach. Each that is asked for gets an address of the loopback, by which it is known again when the trial
//! connects to it: so programs need no proxy settings, whatever they speak.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Mutex, PoisonError};

/// Names that get an address at most; a pattern stands for any number of them.
const MOST: usize = 4000;
/// Hosts in the last part of an address.
const LAST: usize = 250;

/// Patterns, and the names among them that were asked for.
#[derive(Default)]
pub struct Allowed {
    patterns: Vec<String>,
    given: Mutex<Vec<String>>,
}

impl Allowed {
    /// `names` in small letters; one that begins with `*.` stands for all below it.
    pub fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        Self { patterns: names.map(str::to_owned).collect(), given: Mutex::default() }
    }

    /// The address of a name; `None` where it may not be reached.
    pub fn address(&self, name: &str) -> Option<Ipv4Addr> {
        if !self.patterns.iter().any(|pattern| matches(pattern, name)) {
            return None;
        }
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let index = match given.iter().position(|known| known == name) {
            Some(index) => index,
            None if given.len() >= MOST => return None,
            None => {
                given.push(name.to_owned());
                given.len() - 1
            }
        };
        Some(Ipv4Addr::new(127, 1, u8::try_from(index / LAST).ok()?, u8::try_from(index % LAST + 1).ok()?))
    }

    /// What a connection to this address is meant for: `NAME PORT` in a line.
    pub fn target(&self, at: SocketAddr) -> Option<String> {
        let IpAddr::V4(address) = at.ip() else { return None };
        let [127, 1, high, low] = address.octets() else { return None };
        let index = usize::from(high) * LAST + usize::from(low).checked_sub(1)?;
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given.get(index).map(|name| format!("{name} {}\n", at.port()))
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(end) => name.len() > end.len() && name.ends_with(end),
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_address_and_is_known_by_it() {
        let allowed = Allowed::new(["a.org", "*.b.org"].into_iter());
        assert_eq!(allowed.address("a.org"), Some(Ipv4Addr::new(127, 1, 0, 1)));
        for other in ["b.org", "xb.org", "a.org.evil.org", "x.a.org", ""] {
            assert_eq!(allowed.address(other), None, "{other}");
        }
        for n in 0..600 {
            allowed.address(&format!("n{n}.b.org")).unwrap();
        }
        let address = allowed.address("n499.b.org").unwrap();
        assert_eq!(address, Ipv4Addr::new(127, 1, 2, 1));
        let target = |ip: Ipv4Addr| allowed.target((ip, 443).into());
        assert_eq!(target(address).as_deref(), Some("n499.b.org 443\n"));
        assert_eq!(target(Ipv4Addr::new(127, 1, 0, 1)).as_deref(), Some("a.org 443\n"));
        for nobody in [[127, 0, 0, 1], [127, 1, 0, 0], [127, 1, 9, 9], [172, 17, 0, 2]] {
            assert_eq!(target(nobody.into()), None, "{nobody:?}");
        }
    }
}
