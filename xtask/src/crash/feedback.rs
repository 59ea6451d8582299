//! A server that is killed while it stores feedback.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::killer::Killer;
use super::scenario::empty;
use crate::Result;

const FILE: &str = "feedback.jsonl";
const SERVE: &str = "-q serve m=model --port 0 --feedback feedback.jsonl";

/// Feedback that is sent to each server.
const NUM_SENT: usize = 3;

/// Kills a server right before each write of its file; returns the number of kills.
pub(super) fn run(killer: &Killer, desk: &Path) -> Result<usize> {
    empty(desk)?;
    for line in [
        "-q generate -o data --documents 60",
        "-q train data/documents.jsonl --text-field title,text --system parabel -o model",
    ] {
        killer.succeed(desk, line)?;
    }
    let mut num_kills = 0;
    // Opening the file, checking it and writing lines are a few calls each; then none is left.
    for kind in ["write", "fsync", "rename"] {
        for number in 1.. {
            fs::write(desk.join(FILE), "{\"text\":\"half a li")
                .map_err(|error| error.to_string())?;
            let mut server = Server::start(killer.killed(desk, SERVE, kind, number))?;
            let stored = (0..NUM_SENT).filter(|sent| server.store(*sent)).count();
            let was_killed = stored < NUM_SENT;
            server.end();
            if !was_killed {
                break;
            }
            num_kills += 1;
            // The next server repairs what the last has left.
            let mut server = Server::start(killer.command(desk, SERVE))?;
            let is_stored = server.store(NUM_SENT);
            server.end();
            check(desk, stored, is_stored)
                .map_err(|fault| format!("feedback, killed at {kind} {number}: {fault}"))?;
        }
    }
    eprintln!(
        "    feedback: {num_kills} kills, every answer of 201 is in the file, every line whole"
    );
    Ok(num_kills)
}

fn check(desk: &Path, stored: usize, is_stored: bool) -> Result<()> {
    let text = fs::read_to_string(desk.join(FILE)).map_err(|error| error.to_string())?;
    let is_whole = |line: &str| line.starts_with('{') && line.ends_with('}');
    if !is_stored || !text.ends_with('\n') || !text.lines().all(is_whole) {
        return Err(format!("the file is not whole lines: {text}"));
    }
    for sent in (0..stored).chain([NUM_SENT]) {
        if !text.contains(&text_of(sent)) {
            return Err(format!(
                "feedback {sent} was answered with 201 and is not in the file"
            ));
        }
    }
    Ok(())
}

fn text_of(number: usize) -> String {
    format!("a history of harbours, volume {number}")
}

struct Server {
    process: Child,
    address: Option<String>,
}

impl Server {
    fn start(mut command: Command) -> Result<Self> {
        let process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut process = process.map_err(|error| format!("serve: {error}"))?;
        let mut line = String::new();
        if let Some(output) = process.stdout.take() {
            // Nothing is printed where it is killed before.
            let _ = BufReader::new(output).read_line(&mut line);
        }
        let address = line.trim().strip_prefix("http://").map(str::to_owned);
        Ok(Self { process, address })
    }

    /// Sends feedback; true where the answer is 201.
    fn store(&self, number: usize) -> bool {
        let Some(address) = &self.address else {
            return false;
        };
        let body = format!(
            "{{\"text\": \"{}\", \"missing\": [\"C0000001\"]}}",
            text_of(number)
        );
        let request = format!(
            "POST /v1/models/m/feedback HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let mut answer = String::new();
        let sent = TcpStream::connect(address).and_then(|mut stream| {
            stream.write_all(request.as_bytes())?;
            stream.read_to_string(&mut answer)
        });
        sent.is_ok() && answer.starts_with("HTTP/1.1 201")
    }

    /// Ends it, where it has not been.
    fn end(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
