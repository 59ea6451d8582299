//! Where lines end in what a client sends: with CR and LF. The parser of requests takes a lone LF too,
//! which a proxy in front may take for a part of a value, and then the two disagree about where a request
//! ends.

/// As much of a line as is looked at; the headers that matter are shorter.
const MAX_KEPT: usize = 256;

/// Follows the requests of a connection from line to line, past their bodies.
#[derive(Debug)]
pub(super) struct RequestLines {
    place: Place,
    /// The beginning of the current line.
    line: Vec<u8>,
    /// The byte before the next.
    last: u8,
    is_chunked: bool,
    content_length: u64,
}

/// A lone LF, behind so many bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LoneLineFeed(pub(super) usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before a request.
    Start,
    /// Among its headers.
    Headers,
    /// In a body that goes on for this many bytes.
    Body(u64),
    /// At the line with the size of a chunk.
    ChunkSize,
    /// In a chunk that goes on for this many bytes, with the end of its line.
    Chunk(u64),
    /// Among the headers behind the last chunk.
    Trailers,
}

impl RequestLines {
    /// At the beginning of a connection.
    pub(super) fn new() -> Self {
        Self {
            place: Place::Start,
            line: Vec::new(),
            last: 0,
            is_chunked: false,
            content_length: 0,
        }
    }

    /// Follows the next bytes.
    pub(super) fn follow(&mut self, bytes: &[u8]) -> Result<(), LoneLineFeed> {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = match self.place {
                Place::Body(left) | Place::Chunk(left) => self.skip(left, rest),
                _ => {
                    let place = bytes.len() - rest.len();
                    let line = self.follow_line(rest);
                    line.map_err(|LoneLineFeed(end)| LoneLineFeed(place + end))?
                }
            };
        }
        Ok(())
    }

    fn skip<'a>(&mut self, left: u64, bytes: &'a [u8]) -> &'a [u8] {
        let skipped = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let left = left - skipped as u64;
        self.place = match self.place {
            Place::Chunk(_) if left == 0 => Place::ChunkSize,
            Place::Chunk(_) => Place::Chunk(left),
            _ if left == 0 => Place::Start,
            _ => Place::Body(left),
        };
        &bytes[skipped..]
    }

    fn follow_line<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], LoneLineFeed> {
        let end = memchr::memchr(b'\n', bytes);
        let part = &bytes[..end.unwrap_or(bytes.len())];
        let room = MAX_KEPT.saturating_sub(self.line.len());
        self.line.extend_from_slice(&part[..part.len().min(room)]);
        self.last = part.last().copied().unwrap_or(self.last);
        let Some(end) = end else {
            return Ok(&[]);
        };
        if std::mem::take(&mut self.last) != b'\r' {
            return Err(LoneLineFeed(end));
        }
        let line = std::mem::take(&mut self.line);
        self.end_line(line.trim_ascii());
        Ok(&bytes[end + 1..])
    }

    fn end_line(&mut self, line: &[u8]) {
        self.place = match self.place {
            // Empty lines before a request are skipped by the parser as well.
            Place::Start | Place::Trailers if line.is_empty() => Place::Start,
            Place::Start => {
                self.is_chunked = false;
                self.content_length = 0;
                Place::Headers
            }
            Place::Headers if line.is_empty() => self.body(),
            Place::Headers => {
                self.read_header(line);
                Place::Headers
            }
            Place::ChunkSize => chunk(line),
            other => other,
        };
    }

    fn body(&self) -> Place {
        match self.content_length {
            _ if self.is_chunked => Place::ChunkSize,
            0 => Place::Start,
            length => Place::Body(length),
        }
    }

    fn read_header(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line).to_ascii_lowercase();
        match line.split_once(':') {
            Some(("content-length", value)) => {
                self.content_length = value.trim().parse().unwrap_or(0);
            }
            Some(("transfer-encoding", value)) => self.is_chunked = value.contains("chunked"),
            _ => {}
        }
    }
}

/// What follows the size of a chunk. What is no size ends the connection elsewhere.
fn chunk(line: &[u8]) -> Place {
    let line = String::from_utf8_lossy(line);
    let size = line.split(';').next().unwrap_or_default().trim();
    match u64::from_str_radix(size, 16) {
        Ok(0) => Place::Trailers,
        Ok(size) => Place::Chunk(size.saturating_add(2)),
        Err(_) => Place::Body(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &[u8] = b"POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\na\n\nb\
        \r\nPOST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\n\n\n\n\r\n0\r\nTrailer: 1\r\n\r\n\
        GET / HTTP/1.1\r\n\r\n";

    #[test]
    fn bodies_may_have_line_feeds_and_lines_may_not() {
        for size in [1, 2, 7, WHOLE.len()] {
            let mut lines = RequestLines::new();
            for part in WHOLE.chunks(size) {
                assert_eq!(lines.follow(part), Ok(()));
            }
            assert_eq!(lines.place, Place::Start);
            let lone = lines.follow(b"GET / HTTP/1.1\nHost: a\r\n");
            assert_eq!(lone, Err(LoneLineFeed(14)));
        }
        for (lone, place) in [
            ("\nGET / HTTP/1.1\r\n", 0),
            ("GET / HTTP/1.1\r\nHost: a\n\r\n", 23),
            (
                "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\na\r\n",
                48,
            ),
        ] {
            let followed = RequestLines::new().follow(lone.as_bytes());
            assert_eq!(followed, Err(LoneLineFeed(place)), "{lone}");
        }
    }
}
