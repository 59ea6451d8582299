//! Listening, connections, and the end of both.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher as ConnectionWatcher};
use hyper_util::service::TowerToHyperService;
use plethora_system::Registry;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::app::App;
use crate::connection::{Addresses, ClientStream, Visit};
use crate::problem::Problem;
use crate::reload::Watcher;
use crate::traces::{Sending, Traces};
use crate::{Error, Limits, ModelSource, Result, ServeConfig, routes, tls};

/// Where accepting fails, as when too many files are open, trying again at once would only burn time.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Bytes that the system keeps for a client that does not read. Left alone it would take megabytes, and
/// hide for minutes how slowly a client reads.
const SEND_BUFFER_BYTES: u32 = 128 << 10;

/// Connections that the system keeps until they are accepted.
const BACKLOG: u32 = 1024;

/// A server that answers until it is stopped or dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    listening: JoinHandle<()>,
    runtime: Runtime,
    _watcher: Option<Watcher>,
    sending: Option<Sending>,
}

impl Server {
    /// Opens the models, which are of these systems, then listens.
    ///
    /// # Errors
    /// If a model cannot be opened, a setting cannot work, or the address cannot be listened on.
    pub fn start(
        systems: &'static Registry,
        config: &ServeConfig,
        models: &[ModelSource],
    ) -> Result<Self> {
        let traces = config.otlp_endpoint.as_deref().map(Traces::start);
        let (traces, sending) = traces.transpose()?.unzip();
        let app = Arc::new(App::open(systems, config, models, traces)?);
        let acceptor = config.tls.as_ref().map(tls::acceptor).transpose()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .thread_name("http")
            .build()
            .map_err(Error::Threads)?;
        let listen_error = |source| Error::Listen {
            address: config.address,
            source,
        };
        let listener = runtime
            .block_on(async { listener(config.address) })
            .map_err(listen_error)?;
        let address = listener.local_addr().map_err(listen_error)?;
        let watcher = if config.reload_interval.is_zero() {
            None
        } else {
            let registry = Arc::clone(&app.models);
            let watcher = Watcher::start(registry, config.reload_interval);
            Some(watcher.map_err(Error::Threads)?)
        };
        let (stop, stopped) = oneshot::channel();
        let front = Front {
            router: routes::router(app),
            acceptor,
            limits: config.limits,
        };
        let listening = runtime.spawn(front.listen(listener, stopped));
        Ok(Self {
            address,
            stop,
            listening,
            runtime,
            _watcher: watcher,
            sending,
        })
    }

    /// Where it listens, with the port that the system chose where none was given.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections, lets requests finish, and returns.
    pub fn stop(self) {
        // The receiver is there for as long as the task is.
        let _ = self.stop.send(());
        if let Err(error) = self.runtime.block_on(self.listening) {
            tracing::error!(%error, "listening failed");
        }
        if let Some(sending) = self.sending {
            sending.finish();
        }
        self.runtime.shutdown_background();
    }
}

/// Listens; what is set here holds for the connections that come of it.
fn listener(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    // A server that is started again need not wait for connections of the last.
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// What every connection needs.
#[derive(Clone)]
struct Front {
    router: Router,
    acceptor: Option<TlsAcceptor>,
    limits: Limits,
}

impl Front {
    async fn listen(self, listener: TcpListener, mut stopped: oneshot::Receiver<()>) {
        let connections = Arc::new(Semaphore::new(self.limits.max_connections));
        let addresses = Addresses::new(self.limits.connections_per_address());
        let graceful = GracefulShutdown::new();
        loop {
            let next = async {
                let permit = Arc::clone(&connections).acquire_owned().await;
                (listener.accept().await, permit)
            };
            let (accepted, permit) = tokio::select! {
                next = next => next,
                _ = &mut stopped => break,
            };
            match accepted {
                Ok((stream, address)) => {
                    let Some(visit) = addresses.enter(address.ip()) else {
                        self.turn_away(&stream);
                        continue;
                    };
                    let front = self.clone();
                    let watcher = graceful.watcher();
                    tokio::spawn(async move {
                        front.connect(stream, watcher).await;
                        drop::<(_, Visit)>((permit, visit));
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        drop(listener);
        tracing::info!(connections = graceful.count(), "stopping");
        let finished = timeout(self.limits.shutdown_timeout, graceful.shutdown()).await;
        if finished.is_err() {
            tracing::warn!("requests that took too long were cut off");
        }
    }

    /// Answers without a question, as far as that costs nothing.
    fn turn_away(&self, stream: &TcpStream) {
        tracing::debug!("an address has too many connections");
        if self.acceptor.is_none() {
            let _ = stream.try_write(&Problem::crowded().into_message());
        }
    }

    async fn connect(self, stream: TcpStream, watcher: ConnectionWatcher) {
        // Answers are small and whole: waiting to send them together only costs time.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection cannot be set up");
        }
        match &self.acceptor {
            None => self.answer(stream, watcher).await,
            Some(acceptor) => {
                match timeout(self.limits.read_timeout, acceptor.accept(stream)).await {
                    Ok(Ok(stream)) => self.answer(stream, watcher).await,
                    Ok(Err(error)) => tracing::debug!(%error, "no encrypted connection"),
                    Err(_) => tracing::debug!("an encrypted connection took too long"),
                }
            }
        }
    }

    async fn answer<S>(&self, stream: S, watcher: ConnectionWatcher)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let stream = ClientStream::new(stream, self.limits.write_timeout);
        let service = TowerToHyperService::new(self.router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.read_timeout)
            // Who has asked and closes its side for writing waits for the answer. One who has left looks the same,
            // until the answer meets nobody: its work ends with the time of a request at the latest.
            .half_close(true)
            .serve_connection(TokioIo::new(stream.clone()), service);
        if let Err(error) = watcher.watch(connection).await {
            tracing::debug!(%error, "a connection ended early");
            stream.end(&error).await;
        }
    }
}
