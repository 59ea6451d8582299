//! Every reader, and files for it that are damaged.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use plethora::registry;
use plethora_core::SeedStream;
use plethora_core::artifact::MappedArrays;
use plethora_core::corpus::{CorpusReader, ReadOptions, VocabularyFile};
use plethora_core::text::{TokenizerConfig, WordVectors, Words, WordsBuilder, WordsConfig};
use plethora_serve::{ModelSource, ServeConfig, Server};
use plethora_system::settings::{Step, parse_config, resolve};
use rand::RngExt;

use crate::mutation::mutate;

const TESTDATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata");

/// Reads a file; true where it can be used.
type Reader = fn(&Readers, &Path, &str) -> bool;

/// The readers, by their folders in `testdata/hostile`.
const READERS: [(&str, Reader); 6] = [
    ("corpora", |_, path, _| corpus(path)),
    ("vocabularies", |_, path, _| {
        VocabularyFile::from(path.to_owned()).read().is_ok()
    }),
    ("settings", |_, path, _| settings(path)),
    ("arrays", |_, path, _| arrays(path)),
    ("word_vectors", |readers, path, _| {
        WordVectors::read(path, &readers.words, None).is_ok()
    }),
    ("requests", |readers, path, seed| {
        readers.request(path, seed)
    }),
];

/// What readers need, and the undamaged files.
pub(crate) struct Readers {
    seeds: Vec<(Reader, String, Vec<u8>)>,
    words: Words,
    server: Server,
    desk: PathBuf,
}

impl Readers {
    /// Reads the undamaged files and starts a server.
    pub(crate) fn new(desk: &Path) -> Self {
        let mut seeds = Vec::new();
        for (folder, reader) in READERS {
            let folder = Path::new(TESTDATA).join("hostile").join(folder);
            let mut paths: Vec<PathBuf> = fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .collect();
            paths.sort();
            for path in paths {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                seeds.push((reader, name, fs::read(path).unwrap()));
            }
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
        let config = ServeConfig {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            reload_interval: Duration::ZERO,
            feedback: Some(desk.join("feedback.jsonl")),
            ..ServeConfig::default()
        };
        let model = ModelSource::parse(&format!("m={TESTDATA}/model_v1")).unwrap();
        Self {
            seeds,
            words: words.finish().unwrap().0,
            server: Server::start(registry(), &config, &[model]).unwrap(),
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

    /// Posts a body to the address that the file's name gives; no answer may be a failure of the server.
    fn request(&self, path: &Path, name: &str) -> bool {
        let address = name.trim_start_matches("found-").trim_end_matches(".json");
        let address = address
            .split('+')
            .next()
            .unwrap_or(address)
            .replace('_', "/");
        let body = fs::read(path).unwrap();
        let mut stream = TcpStream::connect(self.server.address()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let head = format!(
            "POST /{address} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n",
            body.len()
        );
        let mut answer = Vec::new();
        // The server may have said all there is to say before it has read the whole body.
        let _ = stream.write_all(&[head.as_bytes(), &body].concat());
        let _ = stream.read_to_end(&mut answer);
        let status = String::from_utf8_lossy(answer.get(9..12).unwrap_or_default()).into_owned();
        assert!(
            status.starts_with(['2', '4']),
            "status `{status}` of /{address}"
        );
        status.starts_with('2')
    }
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
