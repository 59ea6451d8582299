//! Which files of an encoder folder its tokenizer is made from.

use std::path::Path;

use plethora_core::Error;
use tokenizers::Tokenizer;

use super::assemble::parse;
use super::family::Family;
use super::subwords::TOKENIZER_FILE;
use super::{byte_pair, sentence_piece, word_piece};
use crate::Result;

/// The tokenizer of a folder, and the name of the file that its vocabulary is in.
pub(super) fn open(folder: &Path) -> Result<(Tokenizer, &'static str)> {
    if !folder.is_dir() {
        return Err(Error::model(folder, "no such folder").into());
    }
    let path = folder.join(TOKENIZER_FILE);
    if path.exists() {
        let bytes = std::fs::read(&path).map_err(Error::read(&path))?;
        return Ok((parse(&path, &bytes)?, TOKENIZER_FILE));
    }
    let family = Family::of_folder(folder)?;
    let (names, build): (&[&str], Builder) = match family {
        Family::Bert | Family::Mpnet => (&[word_piece::VOCABULARY_FILE], word_piece::build),
        Family::Roberta => (
            &[byte_pair::VOCABULARY_FILE, byte_pair::MERGES_FILE],
            byte_pair::build,
        ),
        Family::Xlnet => (&[sentence_piece::MODEL_FILE], sentence_piece::build),
    };
    if !names.iter().all(|name| folder.join(name).exists()) {
        let message = format!(
            "no tokenizer: neither tokenizer.json nor {}, which the architecture in config.json \
             has instead",
            names.join(" and ")
        );
        return Err(Error::model(folder, message).into());
    }
    Ok((build(folder, family)?, names[0]))
}

type Builder = fn(&Path, Family) -> Result<Tokenizer>;

#[cfg(test)]
mod tests {
    use super::super::golden;
    use super::*;

    #[test]
    fn missing_files_are_named_by_architecture() {
        for (case, file, expected) in [
            ("bert", "vocab.txt", "nor vocab.txt, which"),
            ("mpnet", "vocab.txt", "nor vocab.txt, which"),
            (
                "roberta",
                "merges.txt",
                "nor vocab.json and merges.txt, which",
            ),
            ("xlnet", "spiece.model", "nor spiece.model, which"),
        ] {
            let folder = golden::folder(case);
            std::fs::remove_file(folder.path().join(file)).unwrap();
            let error = open(folder.path()).unwrap_err().to_string();
            assert!(
                error.contains("no tokenizer: neither tokenizer.json"),
                "{error}"
            );
            assert!(error.contains(expected), "{error}");
        }
        let error = open(Path::new("/no/such")).unwrap_err().to_string();
        assert_eq!(error, "/no/such: no such folder");
    }

    #[test]
    fn tokenizer_json_comes_before_older_files() {
        let folder = golden::folder("bert");
        std::fs::write(folder.path().join(TOKENIZER_FILE), "{").unwrap();
        let error = open(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains("tokenizer.json: not a tokenizer that can be used: EOF"),
            "{error}"
        );
    }
}
