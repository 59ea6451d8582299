//! Tables, encodings, folders and several files as one corpus. Belongs here: whole files through
//! `CorpusReader` in the forms that spreadsheets, pandas and others give them.

#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

use std::path::PathBuf;

use plethora_core::Result;
use plethora_core::corpus::{CorpusReader, Document, ReadOptions};
use tempfile::TempDir;

/// Files in a folder of their own.
struct Files(TempDir);

/// Documents as `id|text|label;label`, and what was said about them; or the error.
type Read = Result<(Vec<String>, Vec<String>), String>;

impl Files {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str, options: &ReadOptions) -> Read {
        let root = format!("{}/", self.0.path().display());
        let plain = |text: String| text.replace(&root, "");
        let mut reader = CorpusReader::open(&self.path(name), options)
            .map_err(|error| plain(error.to_string()))?;
        let documents = (reader.by_ref().collect::<Result<Vec<Document>>>())
            .map_err(|error| plain(error.to_string()))?;
        let warnings = reader.warnings().iter();
        let warnings = warnings.map(|warning| plain(warning.to_string())).collect();
        Ok((documents.iter().map(show).collect(), warnings))
    }
}

fn show(document: &Document) -> String {
    let text = document.text().unwrap_or("(features)");
    format!("{}|{text}|{}", document.id, document.labels.join(";"))
}

fn defaults() -> ReadOptions {
    ReadOptions::default()
}

fn texts_only() -> ReadOptions {
    ReadOptions {
        texts_only: true,
        ..defaults()
    }
}

fn read(content: &[u8], options: &ReadOptions) -> Read {
    Files::new(&[("corpus", content)]).read("corpus", options)
}

fn documents(content: &[u8], options: &ReadOptions) -> Vec<String> {
    read(content, options).unwrap().0
}

fn error(content: &[u8], options: &ReadOptions) -> String {
    read(content, options).unwrap_err()
}

#[test]
fn all_delimiters_give_the_same_documents() {
    let expected = ["1|Sea, air; fog|sea;air", "2|Harbour \"B\"|sea"];
    for delimiter in [",", ";", "|", "\t"] {
        let content =
            "id~text~labels\r\n1~\"Sea, air; fog\"~\"sea;air\"\r\n2~\"Harbour \"\"B\"\"\"~sea\r\n";
        let content = content.replace('~', delimiter);
        let options = ReadOptions {
            delimiter: (delimiter == "\t").then(|| "tab".parse().unwrap()),
            ..defaults()
        };
        assert_eq!(
            documents(content.as_bytes(), &options),
            expected,
            "{delimiter}"
        );
    }
    let options = ReadOptions {
        delimiter: Some("^".parse().unwrap()),
        ..defaults()
    };
    assert_eq!(documents(b"text^labels\na;b^x\n", &options), ["1|a;b|x"]);
}

#[test]
fn lines_are_right_with_crlf_and_quotes_in_tsv_are_told() {
    let content = b"text,labels\r\nfine,x\r\n\"two\r\nlines\",y\r\nbroken\r\n";
    assert_eq!(
        error(content, &defaults()),
        "corpus:5: 1 columns, but the header has 2"
    );
    let (read, warnings) = read(b"text\tlabels\n\"a sea\"\tx\n", &defaults()).unwrap();
    assert_eq!(read, ["1|\"a sea\"|x"]);
    assert_eq!(
        warnings,
        ["cells keep the quotes around them; delimiter=tab reads cells in quotes"]
    );
}

#[test]
fn columns_of_other_names_are_asked_for() {
    let content = b"title,abstract,keywords\nSea,About the sea,\"a;b\"\n";
    let question = "corpus:1: a table with the columns title, abstract, keywords (between them: ,), \
                    and none of them is named `text`. Name the columns of text and labels with \
                    text_field=title,abstract and label_field=keywords";
    assert_eq!(error(content, &defaults()), question);
    assert_eq!(error(content, &texts_only()), question);
    let options = ReadOptions {
        text_fields: vec!["title".into(), "abstract".into()],
        label_field: Some("keywords".into()),
        ..defaults()
    };
    assert_eq!(documents(content, &options), ["1|Sea\nAbout the sea|a;b"]);
}

#[test]
fn encodings_are_told_by_content_or_named() {
    let text = "text;labels\r\nDer Hafen von Lübeck;Häfen\r\n";
    let expected = ["1|Der Hafen von Lübeck|Häfen"];
    let utf_16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [b"\xff\xfe".as_slice(), &utf_16].concat();
    // Characters below 256 are the same in Latin-1, and in windows-1252 but for some.
    let legacy: Vec<u8> = text.chars().map(|char| u32::from(char) as u8).collect();
    assert_eq!(
        read(&marked, &defaults()).unwrap(),
        (expected.map(str::to_owned).to_vec(), vec![])
    );
    for (bytes, name) in [(&utf_16, "UTF-16LE"), (&legacy, "windows-1252")] {
        let (read, warnings) = read(bytes, &defaults()).unwrap();
        assert_eq!(read, expected);
        let notice = format!("not in UTF-8, so read as {name}; encoding names another encoding");
        assert_eq!(warnings, [notice]);
    }
    let options = ReadOptions {
        encoding: Some("latin-1".parse().unwrap()),
        ..defaults()
    };
    assert!(read(&legacy, &options).unwrap().1.is_empty());
    let options = ReadOptions {
        encoding: Some("cp1250".parse().unwrap()),
        ..defaults()
    };
    assert_eq!(
        documents(b"text,labels\n\xc8esko,x\n", &options),
        ["1|Česko|x"]
    );
}

#[test]
fn one_broken_byte_deep_in_a_file_is_an_error_of_its_line() {
    let mut content = b"text,labels\n".to_vec();
    for _ in 0..20_000 {
        content.extend_from_slice(b"a plain line,x\n");
    }
    content.extend_from_slice(b"na\xefve,y\n");
    let message = error(&content, &defaults());
    assert!(
        message.starts_with("corpus:20002: byte 3 of column 1 is not valid UTF-8"),
        "{message}"
    );
}

#[test]
fn lists_in_cells_and_in_strings_of_json_are_labels() {
    let content = b"text,labels\na,\"['sea', 'open air']\"\nb,\"[\"\"fog\"\"]\"\nc,[]\nd,\n";
    let (documents, warnings) = read(content, &defaults()).unwrap();
    assert_eq!(documents, ["1|a|sea;open air", "2|b|fog", "3|c|", "4|d|"]);
    assert_eq!(
        warnings,
        [
            "labels are read from lists such as ['a', 'b']; label_separator chooses another separator"
        ]
    );
    let content =
        b"{\"text\": \"a\", \"labels\": \"['sea', 'air']\"}\n{\"text\": \"b\", \"labels\": \"\"}\n";
    let (documents, _) = read(content, &defaults()).unwrap();
    assert_eq!(documents, ["1|a|sea;air", "2|b|"]);
}

#[test]
fn columns_of_0_and_1_are_labels() {
    let content = b",id,text,sea,open air\n0,a,A,0,1\n1,b,B,1,1\n2,c,C,0,0\n";
    let expected = ["a|A|open air", "b|B|sea;open air", "c|C|"];
    let (documents, warnings) = read(content, &defaults()).unwrap();
    assert_eq!(documents, expected);
    assert_eq!(
        warnings,
        ["the columns of 0 and 1 are labels: sea, open air; label_columns chooses others"]
    );
    let options = ReadOptions {
        label_columns: vec!["sea".into()],
        ..defaults()
    };
    let (documents, warnings) = read(content, &options).unwrap();
    assert_eq!(documents, ["a|A|", "b|B|sea", "c|C|"]);
    assert!(warnings.is_empty());
    let content = b"text,sea,year\nA,0,1999\nB,-1,2000\n";
    assert_eq!(
        error(content, &options),
        "corpus:3: column `sea` has `-1`; expected 0 or 1"
    );
}

#[test]
fn rows_of_one_document_are_put_together() {
    let content = b"id,text,labels\na,A,sea\na,A,air\nb,B,fog\nc,C,sea\nc,C,ice\n";
    let (documents, warnings) = read(content, &defaults()).unwrap();
    assert_eq!(documents, ["a|A|sea;air", "b|B|fog", "c|C|sea;ice"]);
    assert_eq!(
        warnings,
        ["rows with the same id and text are one document; allow_duplicate_ids keeps them apart"]
    );
    // Another text is another document, unless the caller says that rows belong together.
    let content = b"id,text,labels\na,A,sea\na,B,air\n";
    let message = error(content, &defaults());
    assert!(
        message.contains("the id `a` is that of line 2 already"),
        "{message}"
    );
    assert!(
        message.ends_with("group_rows makes one document of neighbouring rows"),
        "{message}"
    );
    let options = ReadOptions {
        group_rows: true,
        ..defaults()
    };
    assert_eq!(
        error(content, &options),
        "corpus:3: another text than line 2 has for the id `a`"
    );
    let content = b"text,labels\nA,sea\nA,air\nB,fog\n";
    assert_eq!(
        read(content, &options).unwrap().0,
        ["1|A|sea;air", "2|B|fog"]
    );
    let content = b"{\"id\": 1, \"text\": \"A\", \"labels\": [\"sea\"]}\n{\"id\": 1, \"text\": null, \"labels\": [\"air\"]}\n";
    assert_eq!(read(content, &options).unwrap().0, ["1|A|sea;air"]);
    let content = b"id,text,labels\na,A,sea\na,A,fog\nb,B,fog\na,A,air\n";
    let message = error(content, &options);
    assert!(
        message.starts_with("corpus:5: the id `a` is that of line 2"),
        "{message}"
    );
}

#[test]
#[expect(clippy::format_push_string, reason = "a few rows")]
fn long_tables_keep_their_lines_and_break_where_they_are_broken() {
    let mut content = String::from("id,text,labels\n");
    for number in 0..250 {
        content.push_str(&format!("d{number},T,x\n"));
    }
    content.push_str("d200,T,y\n");
    let message = error(content.as_bytes(), &defaults());
    assert!(
        message.starts_with("corpus:252: the id `d200` is that of line 202 already"),
        "{message}"
    );
    for limit in [3, 150] {
        let content = format!(
            "{}broken\n",
            &content[..content.find(&format!("d{limit},")).unwrap()]
        );
        let options = ReadOptions {
            docs_limit: Some(limit),
            ..defaults()
        };
        assert_eq!(documents(content.as_bytes(), &options).len() as u64, limit);
        let message = error(content.as_bytes(), &defaults());
        assert!(
            message.starts_with(&format!("corpus:{}: 1 columns", limit + 2)),
            "{message}"
        );
    }
}

#[test]
fn label_numbers_count_in_a_file_of_names() {
    for (name, content) in [
        ("csv", "text,labels\na,1\nb,\"[0, 2]\"\n"),
        (
            "jsonl",
            "{\"text\": \"a\", \"labels\": [1]}\n{\"text\": \"b\", \"labels\": [0, 2]}\n",
        ),
    ] {
        let files = Files::new(&[(name, content.as_bytes()), ("names", b"sea\nair\nfog\n")]);
        let options = ReadOptions {
            labels_path: Some(files.path("names")),
            ..defaults()
        };
        let read = files.read(name, &options).unwrap().0;
        assert_eq!(read, ["1|a|air", "2|b|sea;fog"], "{name}");
    }
    let files = Files::new(&[("corpus", b"text,labels\na,3\n"), ("names", b"sea\nair\n")]);
    let options = ReadOptions {
        labels_path: Some(files.path("names")),
        ..defaults()
    };
    assert_eq!(
        files.read("corpus", &options).unwrap_err(),
        "corpus:2: unknown label number 3: names has 2 labels, counted from 0"
    );
}

#[test]
fn a_null_text_is_an_empty_cell() {
    let content = b"{\"text\": null, \"labels\": [\"x\"]}\n{\"text\": \"b\"}\n";
    assert_eq!(documents(content, &defaults()), ["1||x", "2|b|"]);
    let message = error(b"{\"labels\": [\"x\"]}\n", &defaults());
    assert!(message.contains("no text in field `text`"), "{message}");
}

#[test]
fn an_empty_file_has_no_documents_to_rank() {
    for content in [b"".as_slice(), b"text,labels\n"] {
        assert_eq!(read(content, &texts_only()).unwrap(), (vec![], vec![]));
    }
    assert_eq!(error(b"", &defaults()), "corpus: the file is empty");
}

#[test]
fn several_files_are_one_corpus_and_errors_name_theirs() {
    let files = Files::new(&[
        (
            "part-1.jsonl",
            b"{\"id\": \"a\", \"text\": \"A\", \"labels\": [\"sea\"]}\n",
        ),
        ("part-2.csv", b"id;text;labels\nb;B;sea\n"),
        ("part-3.jsonl", b""),
        ("part-4.tsv", b"text\tlabels\nC\tfog\n"),
    ]);
    let all = ["a|A|sea", "b|B|sea", "3|C|fog"];
    assert_eq!(files.read("part-*", &defaults()).unwrap().0, all);
    let options = ReadOptions {
        more_paths: vec![files.path("part-[2-4]*")],
        ..defaults()
    };
    assert_eq!(files.read("part-1.jsonl", &options).unwrap().0, all);
    let limited = ReadOptions {
        docs_limit: Some(2),
        ..options
    };
    assert_eq!(files.read("part-1.jsonl", &limited).unwrap().0, all[..2]);
    std::fs::write(files.path("part-5.csv"), "id,text,labels\nx,X,x\nb,B,x\n").unwrap();
    assert_eq!(
        files.read("part-*", &defaults()).unwrap_err(),
        "part-5.csv:3: the id `b` is that of line 2 of part-2.csv already; allow_duplicate_ids \
         accepts that"
    );
    let twice = ReadOptions {
        more_paths: vec![files.path("part-1.jsonl")],
        ..defaults()
    };
    let message = files.read("part-1.jsonl", &twice).unwrap_err();
    assert_eq!(message, "part-1.jsonl: named twice; each file is read once");
}

#[test]
fn features_and_texts_are_not_one_corpus() {
    let files = Files::new(&[
        ("a.txt", b"1 4 2\n0 1:0.5\n"),
        ("b.jsonl", b"{\"text\": \"A\"}\n"),
        ("c.txt", b"1 5 2\n0 1:0.5\n"),
    ]);
    let with = |name: &str| ReadOptions {
        more_paths: vec![files.path(name)],
        ..defaults()
    };
    let message = files.read("a.txt", &with("b.jsonl")).unwrap_err();
    assert!(
        message.starts_with("b.jsonl: jsonl in one corpus with xmc-libsvm"),
        "{message}"
    );
    let message = files.read("a.txt", &with("c.txt")).unwrap_err();
    assert_eq!(message, "c.txt:1: 5 features, but a.txt has 4");
}

#[test]
fn folders_of_documents_have_labels_beside_them() {
    let files = Files::new(&[
        ("annif/a.txt", "Das Meer\nund der Hafen\n".as_bytes()),
        ("annif/a.tsv", b"<http://a/1>\tsea\n<http://a/2>\tharbour\n"),
        ("annif/b.txt", b"Air"),
        ("annif/b.key", b"air\nopen air\n"),
        ("plain/one.txt", b"One.\n\nStill one.\n"),
        ("plain/two.txt", b"Two"),
    ]);
    assert_eq!(
        files.read("annif", &defaults()).unwrap().0,
        [
            "a.txt|Das Meer\nund der Hafen|http://a/1;http://a/2",
            "b.txt|Air|air;open air"
        ]
    );
    let (documents, warnings) = files.read("plain", &texts_only()).unwrap();
    assert_eq!(documents, ["one.txt|One.\n\nStill one.|", "two.txt|Two|"]);
    assert_eq!(
        warnings,
        ["each of 2 .txt files is a document; format=text-pair reads one text per line"]
    );
}

#[test]
fn running_text_is_one_document_and_a_list_is_several() {
    let letter =
        b"Dear reader, the harbour was built in\n1200, and ships came. It was\nlarge then.\n";
    let (documents, warnings) = read(letter, &texts_only()).unwrap();
    assert_eq!(documents.len(), 1);
    assert_eq!(
        warnings,
        ["read as one document, for it is running text; format=text-pair reads one text per line"]
    );
    let lines = ReadOptions {
        format: Some("text-pair".parse().unwrap()),
        ..texts_only()
    };
    assert_eq!(read(letter, &lines).unwrap().0.len(), 3);
    let list = b"A history of harbours\nGlass in Venice\n";
    assert_eq!(read(list, &texts_only()).unwrap().0.len(), 2);
    let whole = ReadOptions {
        format: Some("document".parse().unwrap()),
        ..texts_only()
    };
    assert_eq!(
        read(list, &whole).unwrap().0,
        ["corpus|A history of harbours\nGlass in Venice|"]
    );
}

#[test]
fn the_layout_says_what_was_told_and_what_was_asked_for() {
    let files = Files::new(&[("corpus", b"id;text;labels\na;A;x\n")]);
    let reader = CorpusReader::open(&files.path("corpus"), &defaults()).unwrap();
    let layout = reader.layout();
    for (name, expected) in [
        ("format", "csv (told by content)"),
        ("encoding", "UTF-8 (told by content)"),
        ("delimiter", ";"),
        ("text from", "text"),
        ("labels from", "labels"),
        ("id from", "id"),
    ] {
        let found = layout.iter().find(|(found, _)| *found == name).unwrap();
        assert_eq!(found.1, expected, "{name}");
    }
}
