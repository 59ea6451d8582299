//! Who may ask.

use axum::http::{HeaderMap, header};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The key of a server. Keys are compared by their digests, in the same time whatever is sent.
#[derive(Clone)]
pub(crate) struct ApiKey([u8; 32]);

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ApiKey(..)")
    }
}

impl ApiKey {
    /// The key that clients must send.
    pub(crate) fn new(key: &str) -> Self {
        Self(Sha256::digest(key.as_bytes()).into())
    }

    /// True if the headers have the key as bearer.
    pub(crate) fn is_in(&self, headers: &HeaderMap) -> bool {
        let Some(value) = headers.get(header::AUTHORIZATION) else {
            return false;
        };
        let Some((scheme, key)) = split_once(value.as_bytes(), b' ') else {
            return false;
        };
        let digest: [u8; 32] = Sha256::digest(key.trim_ascii()).into();
        scheme.eq_ignore_ascii_case(b"bearer") && bool::from(self.0.ct_eq(&digest))
    }
}

fn split_once(bytes: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let place = memchr::memchr(separator, bytes)?;
    Some((&bytes[..place], &bytes[place + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_key_opens() {
        let key = ApiKey::new("sesame");
        for (value, expected) in [
            ("Bearer sesame", true),
            ("bearer  sesame", true),
            ("Bearer sesam", false),
            ("Bearer sesame2", false),
            ("Bearer", false),
            ("Basic sesame", false),
            ("sesame", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, value.parse().unwrap());
            assert_eq!(key.is_in(&headers), expected, "{value}");
        }
        assert!(!key.is_in(&HeaderMap::new()));
    }
}
