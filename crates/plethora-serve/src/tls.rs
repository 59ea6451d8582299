//! Certificates.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::{Error, Result, TlsFiles};

/// What accepts encrypted connections.
pub(crate) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor> {
    let wrong_certificate = |message: String| Error::tls(&files.certificate, message);
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect)
        .map_err(|error| wrong_certificate(format!("expected certificates in PEM: {error}")))?;
    if chain.is_empty() {
        let message = "expected certificates in PEM, found none";
        return Err(wrong_certificate(message.into()));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| Error::tls(&files.key, format!("expected a key in PEM: {error}")))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::tls(&files.certificate, error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| Error::tls(&files.certificate, format!("does not work: {error}")))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
