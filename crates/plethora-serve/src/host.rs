//! Which names the server answers to. A page of a stranger can have its name lead to this machine, and
//! then ask as if it were ours; its requests still carry its name.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::SharedApp;
use crate::problem::Problem;
use crate::{Error, Result};

/// Stands for every name.
const ANY: &str = "*";

/// The names. Numeric addresses always are among them: no stranger's name is one.
#[derive(Debug, Clone)]
pub(crate) struct HostNames(Vec<String>);

impl HostNames {
    /// `localhost` and these.
    ///
    /// # Errors
    /// If one is no name.
    pub(crate) fn new(names: &[String]) -> Result<Self> {
        let is_name = |name: &&String| {
            *name == ANY || (!name.is_empty() && name.bytes().all(is_part_of_name))
        };
        match names.iter().find(|name| !is_name(name)) {
            Some(name) => Err(Error::config(
                "allow_host",
                format!(
                    "expected a name like models.example.org, without http:// and port, found {name:?}"
                ),
            )),
            None => Ok(Self(names.iter().map(|name| normal(name)).collect())),
        }
    }

    fn has(&self, host: &str) -> bool {
        let name = normal(without_port(host));
        let numbers = name
            .strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'));
        let is_numeric = numbers.unwrap_or(&name).parse::<IpAddr>().is_ok();
        is_numeric
            || name == "localhost"
            || name.ends_with(".localhost")
            || (self.0.iter()).any(|known| *known == name || known == ANY)
    }

    fn check(&self, request: &Request) -> Result<(), Problem> {
        if let Some(authority) = request.uri().authority() {
            self.check_name(authority.as_str())?;
        }
        match host(request.headers())? {
            Some(host) => self.check_name(host),
            // Older clients than HTTP/1.1 have none, and no browser is that old.
            None if request.version() < Version::HTTP_11 => Ok(()),
            None => Err(Problem::unreadable("expected a header Host, found none")),
        }
    }

    fn check_name(&self, host: &str) -> Result<(), Problem> {
        if self.has(host) {
            return Ok(());
        }
        Err(Problem::misdirected(format!(
            "this server does not answer to the name {:?}; --allow-host adds one",
            without_port(host)
        )))
    }
}

fn is_part_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._".contains(&byte)
}

/// Names differ neither by case nor by the dot that may end them.
fn normal(name: &str) -> String {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.to_ascii_lowercase()
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn host(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let first = hosts.next();
    if hosts.next().is_some() {
        return Err(Problem::unreadable(
            "expected one header Host, found several",
        ));
    }
    let unreadable = |_| Problem::unreadable("expected a name in the header Host");
    first
        .map(|host| host.to_str().map_err(unreadable))
        .transpose()
}

/// Sends away who asks for another server.
pub(crate) async fn check_host(
    State(app): State<SharedApp>,
    request: Request,
    next: Next,
) -> Response {
    match app.host_names.check(&request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.closing().into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_localhost_and_what_is_allowed_are_ours() {
        let names = HostNames::new(&["Models.Example.org".into()]).unwrap();
        for ours in [
            "127.0.0.1:8080",
            "10.1.2.3",
            "[::1]:8080",
            "[::1]",
            "localhost",
            "LOCALHOST:80",
            "books.localhost:8080",
            "models.example.org.:443",
        ] {
            assert!(names.has(ours), "{ours}");
        }
        for foreign in [
            "evil.example:8080",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "notlocalhost",
            "example.org",
            "x.models.example.org",
            "",
            ":8080",
            "evil.example:8080:80",
        ] {
            assert!(!names.has(foreign), "{foreign}");
        }
        assert!(HostNames::new(&["*".into()]).unwrap().has("evil.example"));
        for wrong in ["", "http://a", "a:80", "a b"] {
            assert!(HostNames::new(&[wrong.into()]).is_err(), "{wrong}");
        }
    }
}
