//! Where a collector listens.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// How long a collector may take: one that hangs must not hold back the end of the server.
const PATIENCE: Duration = Duration::from_secs(2);

/// Bytes of an answer that are looked at: its first line.
const ANSWER_BYTES: u64 = 1024;

/// A collector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// Name or number, and port.
    address: String,
    path: String,
}

impl Endpoint {
    /// Reads an address such as `http://localhost:4318`.
    pub(super) fn parse(url: &str) -> Result<Self, String> {
        let refused =
            || format!("expected an address such as http://localhost:4318, found `{url}`");
        let rest = url.strip_prefix("http://").ok_or_else(refused)?;
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let is_odd = |letter: char| letter.is_whitespace() || letter.is_control() || letter == '@';
        if host.is_empty() || url.contains(is_odd) {
            return Err(refused());
        }
        let (name, port) = host.rsplit_once(':').unwrap_or((host, "4318"));
        let port: u16 = port.parse().map_err(|_| refused())?;
        let path = path.trim_end_matches('/');
        Ok(Self {
            address: format!("{name}:{port}"),
            path: if path.is_empty() {
                "/v1/traces".to_owned()
            } else {
                format!("/{path}/v1/traces")
            },
        })
    }

    /// Sends a body, which is JSON.
    pub(super) fn post(&self, body: &[u8]) -> io::Result<()> {
        let address = self.address.to_socket_addrs()?.next();
        let address = address.ok_or_else(|| io::Error::other("the name leads nowhere"))?;
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n",
            self.path,
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body)?;
        let mut answer = Vec::new();
        stream.take(ANSWER_BYTES).read_to_end(&mut answer)?;
        let answer = String::from_utf8_lossy(&answer);
        let status = answer.split(' ').nth(1).unwrap_or_default();
        if status.starts_with('2') {
            return Ok(());
        }
        let first = answer.lines().next().unwrap_or_default();
        Err(io::Error::other(format!("it answers `{first}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_or_refused() {
        let parsed = |url: &str| {
            Endpoint::parse(url).map(|found| format!("{} {}", found.address, found.path))
        };
        assert_eq!(
            parsed("http://localhost:4318").unwrap(),
            "localhost:4318 /v1/traces"
        );
        assert_eq!(
            parsed("http://otel/in/").unwrap(),
            "otel:4318 /in/v1/traces"
        );
        assert_eq!(parsed("http://[::1]:9").unwrap(), "[::1]:9 /v1/traces");
        for url in [
            "localhost:4318",
            "https://a:1",
            "http://",
            "http://a:b",
            "http://a b:1",
        ] {
            assert!(
                parsed(url).unwrap_err().contains("http://localhost:4318"),
                "{url}"
            );
        }
    }
}
