//! How the ranks of a group find one another.
//!
//! Rank 0 listens where everybody knows. Each of the others tells it where it listens itself, hears from it
//! where the next one does, and the ring is closed.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::{Duration, Instant};

use plethora_core::{Error, Result};

use super::Ranks;
use super::ring::Ring;
use crate::Shard;

/// What a process says first, so that other programs that call are told apart.
const GREETING: &[u8; 16] = b"plethora ranks 1";

/// Between two tries to reach somebody.
const RETRY: Duration = Duration::from_millis(100);

/// For a greeting, by somebody who has called.
const GREETING_TIME: Duration = Duration::from_secs(10);

/// Longer than any address.
const MAX_ADDRESS_BYTES: usize = 64;

/// Where a group meets, and which of its processes this is.
#[derive(Debug, Clone)]
pub struct Rendezvous {
    /// This process, and how many there are.
    pub place: Shard,
    /// The machine of rank 0.
    pub address: String,
    /// Where rank 0 listens.
    pub port: u16,
    /// How long to wait for the others.
    pub patience: Duration,
}

impl Rendezvous {
    /// Waits until all are there.
    ///
    /// # Errors
    /// [`Error::Compute`] if they do not come in time, or there are other numbers of them.
    pub fn meet(&self) -> Result<Box<dyn Ranks>> {
        let (index, count) = (self.place.index(), self.place.count());
        let ring = self.form().map_err(|error| {
            Error::Compute(format!(
                "rank {index} of {count} cannot meet the others at {}:{}: {error}",
                self.address, self.port
            ))
        })?;
        Ok(Box::new(ring))
    }

    fn form(&self) -> io::Result<Ring> {
        let deadline = Instant::now() + self.patience;
        let master = self.resolve()?;
        let any = |port| SocketAddr::new(listening_ip(master.ip()), port);
        let own = TcpListener::bind(any(0))?;
        let next = if self.place.index() == 0 {
            let listener = TcpListener::bind(any(self.port))?;
            let address = SocketAddr::new(master.ip(), own.local_addr()?.port());
            self.introduce(&listener, address, deadline)?
        } else {
            self.ask(master, own.local_addr()?.port(), deadline)?
        };
        let mut to_next = connect(next, deadline)?;
        self.greet(&mut to_next, GREETING.len() as u64)?;
        let from_before = self.hear(&own, deadline)?;
        for stream in [&to_next, &from_before] {
            stream.set_nodelay(true)?;
            keep_alive(stream)?;
        }
        Ok(Ring::new(self.place, to_next, from_before))
    }

    fn resolve(&self) -> io::Result<SocketAddr> {
        let mut found = (self.address.as_str(), self.port).to_socket_addrs()?;
        found
            .next()
            .ok_or_else(|| io::Error::other("the address is not known"))
    }

    /// Rank 0: hears from all others where they listen, and tells each where the next one does.
    fn introduce(
        &self,
        listener: &TcpListener,
        own: SocketAddr,
        deadline: Instant,
    ) -> io::Result<SocketAddr> {
        let count = self.place.count();
        let mut places: Vec<Option<(TcpStream, SocketAddr)>> = (0..count).map(|_| None).collect();
        while places.iter().flatten().count() + 1 < count {
            let mut stream = accept(listener, deadline, || {
                let missing = (1..count).filter(|&rank| places[rank].is_none());
                let missing: Vec<String> = missing.map(|rank| rank.to_string()).collect();
                format!("waited in vain for rank {}", missing.join(", "))
            })?;
            let Ok((rank, of, port)) = hear_greeting(&mut stream) else {
                continue;
            };
            if of != count {
                return Err(io::Error::other(format!(
                    "rank {rank} says that there are {of} ranks, not {count}"
                )));
            }
            if rank == 0 || places[rank].is_some() {
                return Err(io::Error::other(format!("there are two of rank {rank}")));
            }
            let address = SocketAddr::new(stream.peer_addr()?.ip(), port as u16);
            places[rank] = Some((stream, address));
        }
        let mut next = own;
        for (stream, address) in places.into_iter().flatten().rev() {
            let mut stream = stream;
            let mut told = next.to_string().into_bytes();
            told.resize(MAX_ADDRESS_BYTES, b' ');
            stream.write_all(&told)?;
            next = address;
        }
        Ok(next)
    }

    /// The others: tell rank 0 where they listen, and hear where the next one does.
    fn ask(&self, master: SocketAddr, port: u16, deadline: Instant) -> io::Result<SocketAddr> {
        let mut stream = connect(master, deadline)?;
        self.greet(&mut stream, u64::from(port))?;
        let mut told = [0; MAX_ADDRESS_BYTES];
        stream.set_read_timeout(Some(left(deadline)?))?;
        stream.read_exact(&mut told).map_err(|error| {
            io::Error::other(format!(
                "rank 0 has not said where the others are ({error})"
            ))
        })?;
        let told = String::from_utf8_lossy(&told);
        told.trim()
            .parse()
            .map_err(|_| io::Error::other("rank 0 says something else than an address"))
    }

    fn greet(&self, stream: &mut TcpStream, last: u64) -> io::Result<()> {
        let mut greeting = GREETING.to_vec();
        for number in [self.place.index() as u64, self.place.count() as u64, last] {
            greeting.extend(number.to_le_bytes());
        }
        stream.write_all(&greeting)
    }

    /// Waits for the rank before this one; others that call by mistake are not answered.
    fn hear(&self, listener: &TcpListener, deadline: Instant) -> io::Result<TcpStream> {
        let (index, count) = (self.place.index(), self.place.count());
        let before = (index + count - 1) % count;
        loop {
            let nobody = || format!("waited in vain for rank {before}");
            let mut stream = accept(listener, deadline, nobody)?;
            if hear_greeting(&mut stream).is_ok_and(|(rank, of, _)| (rank, of) == (before, count)) {
                stream.set_read_timeout(None)?;
                return Ok(stream);
            }
        }
    }
}

/// Rank, number of ranks, and the third number of a greeting.
fn hear_greeting(stream: &mut TcpStream) -> io::Result<(usize, usize, u64)> {
    stream.set_read_timeout(Some(GREETING_TIME))?;
    let mut greeting = [0; GREETING.len() + 24];
    stream.read_exact(&mut greeting)?;
    let (words, numbers) = greeting.split_at(GREETING.len());
    let mut numbers = numbers.chunks_exact(8).map(|bytes| {
        let mut number = [0; 8];
        number.copy_from_slice(bytes);
        u64::from_le_bytes(number)
    });
    let mut number = || numbers.next().unwrap_or_default();
    let (rank, count, last) = (number() as usize, number() as usize, number());
    if words != GREETING || rank >= count {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok((rank, count, last))
}

fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(left)
}

/// Calls until somebody answers.
fn connect(address: SocketAddr, deadline: Instant) -> io::Result<TcpStream> {
    loop {
        match TcpStream::connect_timeout(&address, left(deadline)?) {
            Ok(stream) => return Ok(stream),
            Err(error) if left(deadline)? < RETRY => return Err(error),
            Err(_) => thread::sleep(RETRY),
        }
    }
}

fn accept(
    listener: &TcpListener,
    deadline: Instant,
    nobody: impl Fn() -> String,
) -> io::Result<TcpStream> {
    listener.set_nonblocking(true)?;
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false)?;
                return Ok(stream);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                left(deadline).map_err(|_| io::Error::other(nobody()))?;
                thread::sleep(RETRY / 5);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Listens for this machine alone where the group is on it, else for all.
fn listening_ip(master: IpAddr) -> IpAddr {
    match master {
        ip if ip.is_loopback() => ip,
        IpAddr::V4(_) => IpAddr::from([0, 0, 0, 0]),
        IpAddr::V6(_) => IpAddr::from([0_u16; 8]),
    }
}

/// Has the system notice a machine that is gone without a word, within half a minute.
#[cfg(unix)]
fn keep_alive(stream: &TcpStream) -> io::Result<()> {
    use rustix::net::sockopt;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, Duration::from_secs(10))?;
    sockopt::set_tcp_keepintvl(stream, Duration::from_secs(4))?;
    sockopt::set_tcp_keepcnt(stream, 4)?;
    Ok(())
}

#[cfg(not(unix))]
fn keep_alive(_stream: &TcpStream) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A port that nobody has now.
    fn free_port() -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    }

    fn rendezvous(index: usize, count: usize, port: u16) -> Rendezvous {
        Rendezvous {
            place: Shard::new(index, count).unwrap(),
            address: "127.0.0.1".into(),
            port,
            patience: Duration::from_secs(20),
        }
    }

    /// Has all ranks of a group do something, each on a thread.
    fn in_group<T: Send>(count: usize, act: impl Fn(&dyn Ranks) -> T + Sync) -> Vec<T> {
        let port = free_port();
        thread::scope(|scope| {
            let ranks: Vec<_> = (0..count)
                .map(|index| {
                    let act = &act;
                    scope
                        .spawn(move || act(rendezvous(index, count, port).meet().unwrap().as_ref()))
                })
                .collect();
            ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
        })
    }

    #[test]
    fn sums_are_right_and_have_the_same_bits_everywhere() {
        for count in [1, 2, 3, 5] {
            // Fewer values than ranks, none at all, and more than a block.
            for length in [0, 2, 7, 200_003] {
                let value =
                    |rank: usize, place: usize| 0.1 * (rank + 1) as f32 + place as f32 * 1e-3;
                let sums = in_group(count, |ranks| {
                    let rank = ranks.place().index();
                    let mut values: Vec<f32> =
                        (0..length).map(|place| value(rank, place)).collect();
                    ranks.sum(&mut values).unwrap();
                    values
                });
                for (place, &sum) in sums[0].iter().enumerate() {
                    let expected: f32 = (0..count).map(|rank| value(rank, place)).sum();
                    assert!(
                        (sum - expected).abs() <= 1e-4 * expected.abs(),
                        "{sum} {expected}"
                    );
                }
                let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect();
                let bits: Vec<Vec<u32>> = sums.iter().map(|values| bits(values)).collect();
                assert!(bits.iter().all(|one| *one == bits[0]));
            }
        }
    }

    #[test]
    fn messages_come_in_the_order_of_ranks() {
        let long = 3_000_000;
        let found = in_group(3, |ranks| {
            let rank = ranks.place().index();
            let all = ranks.gather(&vec![rank as u8; rank * long]).unwrap();
            (all, ranks.broadcast(&[rank as u8]).unwrap())
        });
        for (all, first) in found {
            assert_eq!(
                all.iter().map(Vec::len).collect::<Vec<_>>(),
                [0, long, 2 * long]
            );
            assert!(all[2].iter().all(|&byte| byte == 2));
            assert_eq!(first, [0]);
        }
    }

    #[test]
    fn others_notice_a_rank_that_ends() {
        let started = Instant::now();
        let errors = in_group(3, |ranks| {
            let mut values = vec![1.0; 1 << 20];
            ranks.sum(&mut values).unwrap();
            if ranks.place().index() == 1 {
                return None;
            }
            Some(ranks.sum(&mut values).unwrap_err().to_string())
        });
        assert!(started.elapsed() < Duration::from_secs(20));
        let message = errors[0].as_ref().unwrap();
        assert!(
            message.contains("rank 0 of 3 has lost rank 2 or 1"),
            "{message}"
        );
        assert!(errors[2].is_some());
    }

    #[test]
    fn those_who_do_not_come_are_named() {
        let alone = Rendezvous {
            patience: Duration::from_millis(300),
            ..rendezvous(0, 3, free_port())
        };
        let message = alone.meet().unwrap_err().to_string();
        assert!(
            message.contains("waited in vain for rank 1, 2"),
            "{message}"
        );
        let lost = Rendezvous {
            patience: Duration::from_millis(300),
            ..rendezvous(1, 3, free_port())
        };
        let message = lost.meet().unwrap_err().to_string();
        assert!(
            message.starts_with("rank 1 of 3 cannot meet the others at 127.0.0.1:"),
            "{message}"
        );
    }

    #[test]
    fn strangers_do_not_disturb() {
        let port = free_port();
        thread::scope(|scope| {
            let start = |index| scope.spawn(move || rendezvous(index, 2, port).meet().is_ok());
            let first = start(0);
            let deadline = Instant::now() + Duration::from_secs(20);
            let mut stranger = connect(SocketAddr::from(([127, 0, 0, 1], port)), deadline).unwrap();
            stranger
                .write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n")
                .unwrap();
            let ranks = [first, start(1)];
            assert!(ranks.into_iter().all(|rank| rank.join().unwrap()));
        });
    }
}
