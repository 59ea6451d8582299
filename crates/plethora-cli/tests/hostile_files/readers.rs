//! Every reader, and files for it that are damaged.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use plethora::registry;
use plethora_core::SeedStream;
use plethora_core::artifact::MappedArrays;
use plethora_core::corpus::{CorpusReader, Feedback, ReadOptions, VocabularyFile};
use plethora_core::text::{TokenizerConfig, WordVectors, Words, WordsBuilder, WordsConfig};
use plethora_serve::{ModelSource, ServeConfig, Server};
use plethora_system::settings::{Step, parse_config, resolve};
use rand::RngExt;

use crate::encoders;
use crate::mutation::mutate;

const TESTDATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata");

/// Reads a file; true where it can be used.
type Reader = fn(&Readers, &Path, &str) -> bool;

/// The readers, by their folders in `testdata`.
const READERS: [(&str, Reader); 8] = [
    ("hostile/corpora", |_, path, _| corpus(path)),
    // What other programs write, Parquet and Arrow among it.
    ("formats", |_, path, _| corpus(path)),
    ("hostile/feedback", |readers, path, _| {
        let read = Feedback::read(path).is_ok();
        // A server goes on with the file, whatever is in it.
        Server::start(registry(), &serving(path), &readers.models).unwrap();
        read
    }),
    ("hostile/vocabularies", |_, path, _| {
        VocabularyFile::from(path.to_owned()).read().is_ok()
    }),
    ("hostile/settings", |_, path, _| settings(path)),
    ("hostile/arrays", |_, path, _| arrays(path)),
    ("hostile/word_vectors", |readers, path, _| {
        WordVectors::read(path, &readers.words, None).is_ok()
    }),
    ("hostile/requests", |readers, path, seed| {
        readers.request(path, seed)
    }),
];

/// What readers need, and the undamaged files.
pub(crate) struct Readers {
    seeds: Vec<(Reader, String, Vec<u8>)>,
    words: Words,
    models: Vec<ModelSource>,
    server: Server,
    desk: PathBuf,
}

/// A server of which others know nothing, with this file for feedback.
fn serving(feedback: &Path) -> ServeConfig {
    ServeConfig {
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        reload_interval: Duration::ZERO,
        feedback: Some(feedback.to_owned()),
        ..ServeConfig::default()
    }
}

impl Readers {
    /// Reads the undamaged files and starts a server.
    pub(crate) fn new(desk: &Path) -> Self {
        let mut seeds = Vec::new();
        for (folder, reader) in READERS {
            let entries = fs::read_dir(Path::new(TESTDATA).join(folder)).unwrap();
            let mut paths: Vec<PathBuf> = entries
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.is_file() && path.extension().is_none_or(|name| name != "py"))
                .collect();
            paths.sort();
            for path in paths {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                seeds.push((reader, name, fs::read(path).unwrap()));
            }
        }
        for (place, file) in encoders::FILES.iter().enumerate() {
            let content = fs::read(Path::new(TESTDATA).join(file.path)).unwrap();
            seeds.push((encoder, place.to_string(), content));
        }
        let mut words = WordsBuilder::new(WordsConfig {
            tokenizer: TokenizerConfig::default(),
            max_vocabulary: 1000,
            min_df: 1,
            max_length: 100,
            counts_whole_documents: None,
            separator: None,
        })
        .unwrap();
        words.push_batch(&["the sea, das Meer: über naïve größe v2_beta"]);
        let config = serving(&desk.join("feedback.jsonl"));
        let models = vec![ModelSource::parse(&format!("m={TESTDATA}/model_v1")).unwrap()];
        Self {
            seeds,
            words: words.finish().unwrap().0,
            server: Server::start(registry(), &config, &models).unwrap(),
            models,
            desk: desk.to_owned(),
        }
    }

    /// Reads a file: the first cases as they are, the others damaged. True where it can be used.
    pub(crate) fn try_case(&self, case: u64) -> bool {
        let (reader, name, content) = &self.seeds[(case % self.seeds.len() as u64) as usize];
        let mut content = content.clone();
        if case >= self.seeds.len() as u64 {
            let mut rng = SeedStream::new(case).rng();
            for _ in 0..rng.random_range(1..4_u32) {
                mutate(&mut content, &mut rng);
            }
        }
        let path = self.desk.join("input");
        fs::write(&path, content).unwrap();
        reader(self, &path, name)
    }

    /// Sends a request; no answer may be a failure of the server. The file's name says where to: `a_b.json` and `a_b.form`
    /// are bodies for `/a/b`, `a_b.query` is what follows the question mark, and `.http` are whole requests.
    fn request(&self, path: &Path, name: &str) -> bool {
        let content = fs::read(path).unwrap();
        let (address, kind) = name
            .trim_start_matches("found-")
            .rsplit_once('.')
            .unwrap_or((name, "json"));
        let address = address.split('+').next().unwrap_or(address);
        let address = address.replace('_', "/");
        let common = "HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
        let sent = match kind {
            "http" => content,
            "query" => {
                let start = format!("GET /{address}?");
                let end = format!(" {common}\r\n");
                [start.as_bytes(), &content, end.as_bytes()].concat()
            }
            _ => {
                let media_type = match kind {
                    "form" => "application/x-www-form-urlencoded",
                    _ => "application/json",
                };
                let length = content.len();
                let head = format!(
                    "POST /{address} {common}Content-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n"
                );
                [head.as_bytes(), &content].concat()
            }
        };
        let mut stream = TcpStream::connect(self.server.address()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let mut answer = Vec::new();
        // The server may have said all there is to say before it has read the whole request.
        let _ = stream.write_all(&sent);
        let _ = stream.shutdown(Shutdown::Write);
        let read = stream.read_to_end(&mut answer);
        let is_late = read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        assert!(!is_late, "no answer of /{address} for a minute");
        let status = String::from_utf8_lossy(answer.get(9..12).unwrap_or_default()).into_owned();
        // What is no request has no answer, either.
        let is_hung_up = status.is_empty() && matches!(kind, "http" | "query");
        assert!(
            is_hung_up || status.starts_with(['2', '4']),
            "status `{status}` of /{address}"
        );
        status.starts_with('2')
    }
}

/// Reads an encoder with a file in the place of one of its own.
fn encoder(readers: &Readers, path: &Path, place: &str) -> bool {
    let file = &encoders::FILES[place.parse::<usize>().unwrap()];
    encoders::read(file, Path::new(TESTDATA), path, &readers.desk)
}

#[expect(clippy::unnecessary_fold, reason = "side by side with others")]
fn corpus(path: &Path) -> bool {
    let read = |options: &ReadOptions| {
        CorpusReader::open(path, options).is_ok_and(|reader| {
            reader
                .map(|row| row.is_ok())
                .fold(true, |all, one| all && one)
        })
    };
    let with_fields = ReadOptions {
        text_fields: vec!["title".into(), "text".into()],
        allow_duplicate_ids: true,
        ..ReadOptions::default()
    };
    let texts = ReadOptions {
        texts_only: true,
        ..ReadOptions::default()
    };
    let pair = ReadOptions {
        labels_path: Some(path.to_owned()),
        ..ReadOptions::default()
    };
    // Each is another way through the readers.
    let outcomes = [ReadOptions::default(), with_fields, texts, pair].map(|options| read(&options));
    outcomes.contains(&true)
}

fn settings(path: &Path) -> bool {
    let Ok(text) = fs::read_to_string(path) else {
        return false;
    };
    let Ok(assignments) = parse_config(path, &text) else {
        return false;
    };
    let steps: Vec<Step> = assignments.into_iter().map(Step::Setting).collect();
    resolve(registry(), &steps, &[]).is_ok_and(|settings| settings.config().is_ok())
}

fn arrays(path: &Path) -> bool {
    let Ok(arrays) = MappedArrays::open(path) else {
        return false;
    };
    let names: Vec<String> = arrays.names().map(str::to_owned).collect();
    names.iter().all(|name| {
        arrays.dtype(name).is_some()
            && (arrays.array::<f32>(name).is_ok()
                || arrays.array::<u32>(name).is_ok()
                || arrays.array::<u64>(name).is_ok())
    })
}
