//! How many connections each address has.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Connections by address, so that one cannot take them all.
#[derive(Debug)]
pub(crate) struct Addresses {
    max_connections: usize,
    counts: Mutex<HashMap<IpAddr, usize>>,
}

/// A connection that counts until it is dropped.
#[derive(Debug)]
pub(crate) struct Visit {
    addresses: Arc<Addresses>,
    network: IpAddr,
}

impl Addresses {
    /// No connections yet, of which each address may have so many.
    pub(crate) fn new(max_connections: usize) -> Arc<Self> {
        Arc::new(Self {
            max_connections,
            counts: Mutex::default(),
        })
    }

    /// Counts a connection; none where the address has its share.
    pub(crate) fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Visit> {
        let network = network(address);
        let mut counts = self.lock();
        let count = counts.entry(network).or_default();
        if *count >= self.max_connections {
            return None;
        }
        *count += 1;
        drop(counts);
        Some(Visit {
            addresses: Arc::clone(self),
            network,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let mut counts = self.addresses.lock();
        if let Some(count) = counts.get_mut(&self.network) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.network);
            }
        }
    }
}

/// What one client has: an address of version 4, a network of 64 bits of version 6.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let bits = address.to_bits() & (u128::MAX << 64);
            IpAddr::V6(Ipv6Addr::from_bits(bits))
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_share_and_leaves_nothing_behind() {
        let addresses = Addresses::new(2);
        let enter = |address: &str| addresses.enter(address.parse().unwrap());
        let first = enter("10.0.0.1").unwrap();
        let _second = enter("::ffff:10.0.0.1").unwrap();
        assert!(enter("10.0.0.1").is_none());
        let _other = enter("10.0.0.2").unwrap();
        drop(first);
        let again = enter("10.0.0.1");
        assert!(again.is_some());
        let _one = enter("2001:db8::1").unwrap();
        let _two = enter("2001:db8::2").unwrap();
        assert!(enter("2001:db8::3").is_none());
        assert!(enter("2001:db8:0:1::3").is_some());
        assert_eq!(addresses.lock().len(), 3);
    }
}
