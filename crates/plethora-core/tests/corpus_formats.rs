//! What each corpus format gives, and what is said of each kind of broken file. Belongs here: whole
//! files through `CorpusReader`; the parsing of single lines is tested beside it.

#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

use std::path::{Path, PathBuf};

use plethora_core::corpus::{Content, CorpusReader, Document, Format, ReadOptions, Sample};
use plethora_core::{Error, Result};
use tempfile::TempDir;

/// Files in a folder of their own.
struct Files(TempDir);

impl Files {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The error's message with file names instead of paths.
    fn message(&self, error: &Error) -> String {
        error
            .to_string()
            .replace(&format!("{}/", self.0.path().display()), "")
    }
}

fn read_all(path: &Path, options: &ReadOptions) -> Result<Vec<Document>> {
    CorpusReader::open(path, options)?.collect()
}

fn read_text(content: &str, options: &ReadOptions) -> Vec<Document> {
    let files = Files::new(&[("corpus", content.as_bytes())]);
    read_all(&files.path("corpus"), options).unwrap()
}

fn error_of(content: &[u8], options: &ReadOptions) -> String {
    let files = Files::new(&[("corpus", content)]);
    files.message(&read_all(&files.path("corpus"), options).unwrap_err())
}

/// Reads `corpus` with a second file `labels`.
fn read_pair(corpus: &str, labels: &str, options: ReadOptions) -> Result<Vec<Document>, String> {
    let files = Files::new(&[("corpus", corpus.as_bytes()), ("labels", labels.as_bytes())]);
    let options = ReadOptions {
        labels_path: Some(files.path("labels")),
        ..options
    };
    read_all(&files.path("corpus"), &options).map_err(|error| files.message(&error))
}

/// Documents as `id|text or features|label;label`.
fn show(documents: &[Document]) -> Vec<String> {
    let content = |content: &Content| match content {
        Content::Text(text) => text.clone(),
        Content::Features(row) => format!("{:?} {:?}", row.columns, row.values),
    };
    documents
        .iter()
        .map(|document| {
            format!(
                "{}|{}|{}",
                document.id,
                content(&document.content),
                document.labels.join(";")
            )
        })
        .collect()
}

fn defaults() -> ReadOptions {
    ReadOptions::default()
}

fn strings(values: &[&str]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

#[test]
fn jsonl_takes_fields_by_name_in_any_order() {
    let documents = read_text(
        "{\"labels\": [\"sea\", \"air\", \"sea\"], \"n\": {\"a\": [1]}, \"text\": \"A\\tsea \\u00fc\", \"id\": \"x\"}\n\
         \n\
         {\"text\": \"no labels\", \"id\": 7}\r\n\
         {\"text\": \"numbers\", \"labels\": [3, \"4\"]}",
        &defaults(),
    );
    assert_eq!(
        show(&documents),
        ["x|A\tsea ü|sea;air", "7|no labels|", "3|numbers|3;4"]
    );
}

#[test]
fn jsonl_joins_several_text_fields_in_the_order_asked() {
    let content = "{\"abstract\": \"about\", \"title\": \"Sea\", \"tags\": \"a, b\", \"key\": \"k\"}\n\
                   {\"title\": \"Air\", \"abstract\": null, \"tags\": null, \"key\": \"l\"}\n";
    let options = ReadOptions {
        text_fields: strings(&["title", "abstract"]),
        label_field: Some("tags".into()),
        label_separator: Some(",".into()),
        id_field: Some("key".into()),
        ..defaults()
    };
    assert_eq!(
        show(&read_text(content, &options)),
        ["k|Sea\nabout|a;b", "l|Air|"]
    );
}

#[test]
fn one_field_may_serve_for_several_things() {
    let content = "{\"text\": \"sea\", \"labels\": [\"x\"], \"id\": \"a\"}\n{\"text\": \"air\", \"id\": \"b\"}\n";
    let options = ReadOptions {
        text_fields: strings(&["text", "id"]),
        filters: vec!["id=a".parse().unwrap()],
        ..defaults()
    };
    assert_eq!(show(&read_text(content, &options)), ["a|sea\na|x"]);
    let options = ReadOptions {
        filters: vec!["labels=x".parse().unwrap()],
        ..defaults()
    };
    assert_eq!(show(&read_text(content, &options)), ["a|sea|x"]);
}

#[test]
fn jsonl_filters_rows_and_counts_positions_in_the_file() {
    let content = "{\"split\": \"test\", \"text\": \"a\"}\n\
                   {\"text\": \"b\", \"split\": \"train\", \"year\": 1999}\n\
                   {\"text\": \"c\", \"split\": \"train\", \"year\": 2000}\n\
                   {\"text\": \"d\"}\n";
    let filtered = |filters: &[&str]| {
        let filters = filters.iter().map(|text| text.parse().unwrap()).collect();
        show(&read_text(
            content,
            &ReadOptions {
                filters,
                ..defaults()
            },
        ))
    };
    assert_eq!(filtered(&["split=train"]), ["2|b|", "3|c|"]);
    assert_eq!(filtered(&["split=train", "year=2000"]), ["3|c|"]);
    assert_eq!(
        filtered(&["split=train", "split=test"]),
        ["1|a|", "2|b|", "3|c|"]
    );
    let options = ReadOptions {
        filters: vec!["split=dev".parse().unwrap()],
        ..defaults()
    };
    assert_eq!(
        error_of(content.as_bytes(), &options),
        "corpus: none of 4 rows has split=`dev` (found `test`, `train`)"
    );
}

#[test]
fn jsonl_takes_annif_subjects() {
    let content = "{\"text\": \"sea\", \"subjects\": [{\"uri\": \"<http://a/1>\", \"label\": \"x\"}, {\"label\": \"y\"}]}\n";
    assert_eq!(
        show(&read_text(content, &defaults())),
        ["1|sea|http://a/1;y"]
    );
    let both = "{\"subjects\": [{\"uri\": \"u\"}], \"text\": \"sea\", \"labels\": [\"l\"]}\n\
                {\"labels\": [\"l\"], \"text\": \"sea\", \"subjects\": [{\"uri\": \"u\"}]}\n";
    assert_eq!(show(&read_text(both, &defaults())), ["1|sea|l", "2|sea|l"]);
}

#[test]
fn a_limit_stops_early_and_before_broken_lines() {
    let content = "{\"text\": \"a\"}\n{\"text\": \"b\"}\nbroken\n";
    let options = ReadOptions {
        docs_limit: Some(2),
        ..defaults()
    };
    assert_eq!(read_text(content, &options).len(), 2);
}

#[test]
fn samples_of_a_corpus_share_its_documents_out() {
    let lines = (0..300).map(|number| format!("{{\"id\": \"d{number}\", \"text\": \"a\"}}\n"));
    let content: String = lines.collect();
    let sample = |range| {
        let options = ReadOptions {
            docs_limit: Some(200),
            sample: Some(Sample::new(1, range)),
            ..defaults()
        };
        show(&read_text(&content, &options))
    };
    let (mut few, most) = (sample(0.0..0.2), sample(0.2..1.0));
    assert!((20..60).contains(&few.len()), "{}", few.len());
    few.extend(most);
    few.sort();
    let mut all: Vec<String> = (0..200).map(|number| format!("d{number}|a|")).collect();
    all.sort();
    assert_eq!(few, all);
}

#[test]
fn blank_lines_are_counted_as_skipped() {
    let files = Files::new(&[(
        "corpus",
        b"\xef\xbb\xbf{\"text\": \"a\"}\n\n  \n{\"text\": \"b\"}\n",
    )]);
    let mut reader = CorpusReader::open(&files.path("corpus"), &defaults()).unwrap();
    assert_eq!(reader.by_ref().count(), 2);
    assert_eq!(reader.skipped().get("blank line"), Some(&2));
    assert_eq!(
        reader.warnings(),
        ["no document has labels; label_field names their field"]
    );
}

#[test]
fn broken_jsonl_names_the_line_and_the_reason() {
    let good = "{\"text\": \"a\"}\n";
    let cases = [
        (
            "{\"body\": \"a\", \"title\": \"b\"}",
            "no text in field `text`; fields found: body, title. Name the text with text_field",
        ),
        (
            "{\"text\": 5}",
            "invalid type: integer `5`, expected field `text` to be a string",
        ),
        (
            "{\"text\": \"a\", \"labels\": 5}",
            "invalid type: integer `5`, expected field `labels` to be a list of strings or integers \
             (a string of labels needs label_separator)",
        ),
        (
            "{\"text\": \"a\", \"labels\": \"sea\"}",
            "invalid type: string \"sea\", expected field `labels` to be a list of strings or \
             integers (a string of labels needs label_separator)",
        ),
        (
            "{\"text\": \"a\", \"labels\": {\"sea\": 1}}",
            "invalid type: map, expected field `labels` to be a list of strings or integers \
             (a string of labels needs label_separator)",
        ),
        (
            "{\"text\": \"a\", \"labels\": [{\"uri\": \"sea\"}]}",
            "an object in the list, expected field `labels` to be a list of strings or integers \
             (a string of labels needs label_separator)",
        ),
        (
            "{\"text\": \"a\", \"labels\": [1.5]}",
            "invalid type: floating point `1.5`, expected labels to be strings or integers",
        ),
        ("{\"text\": \"a\", \"labels\": [\"\"]}", "an empty label"),
        (
            "{\"text\": \"a\", \"id\": [1]}",
            "invalid type: sequence, expected field `id` to be a string or an integer",
        ),
        (
            "{\"text\": \"a\"",
            "the JSON object does not end on its line; expected one object per line",
        ),
        ("{\"text\": \"a\"} x", "not valid JSON: trailing characters"),
        ("{\"text\": oops}", "not valid JSON: expected value"),
        ("[1]", "invalid type: sequence, expected a JSON object"),
    ];
    for (line, expected) in cases {
        let message = error_of(format!("{good}{line}\n").as_bytes(), &defaults());
        // Where exactly the parser stops within a value is its own affair.
        let (reason, column) = message.split_once(" (column ").unwrap_or((&message, "1)"));
        assert_eq!(reason, format!("corpus:2: {expected}"));
        let column: usize = column.trim_end_matches(')').parse().unwrap();
        assert!((1..=line.len()).contains(&column), "{message}");
    }
}

#[test]
fn broken_utf8_names_line_and_byte() {
    assert_eq!(
        error_of(
            b"{\"text\": \"f\xc3\xbcr\"}\n{\"text\": \"na\xefve\"}\n",
            &defaults()
        ),
        "corpus:2: byte 13 of the line is not valid UTF-8; if the file has another encoding, name \
         it with encoding"
    );
    assert_eq!(
        error_of(b"text,labels\nf\xc3\xbcr,b\nna\xefve,a\n", &defaults()),
        "corpus:3: byte 3 of column 1 is not valid UTF-8; if the file has another encoding, name \
         it with encoding"
    );
}

#[test]
fn named_fields_that_are_missing_are_told() {
    let files = Files::new(&[("corpus", b"{\"title\": \"a\", \"labels\": [\"x\"]}\n")]);
    let options = ReadOptions {
        text_fields: strings(&["title", "abstrct"]),
        ..defaults()
    };
    let mut reader = CorpusReader::open(&files.path("corpus"), &options).unwrap();
    let message = reader.by_ref().nth(1).unwrap().unwrap_err().to_string();
    assert!(
        message.ends_with(
            "corpus: no row has the text field `abstrct`; the first row has labels, title. Check \
             text_field"
        ),
        "{message}"
    );
    // Where a text is to be ranked, or the fields are a model's, the others may do.
    for options in [
        ReadOptions {
            texts_only: true,
            ..options.clone()
        },
        ReadOptions {
            usual_text_fields: options.text_fields.clone(),
            ..defaults()
        },
    ] {
        let mut reader = CorpusReader::open(&files.path("corpus"), &options).unwrap();
        assert_eq!(reader.by_ref().count(), 1);
        assert_eq!(reader.warnings(), ["no row has the text field `abstrct`"]);
    }
    let options = ReadOptions {
        id_field: Some("key".into()),
        ..defaults()
    };
    assert_eq!(
        error_of(b"{\"text\": \"a\"}\n", &options),
        "corpus:1: no field `key` for the id"
    );
}

#[test]
fn duplicate_ids_are_refused_unless_allowed() {
    let content = "{\"id\": \"a\", \"text\": \"1\"}\n{\"id\": \"b\", \"text\": \"2\"}\n{\"id\": \"a\", \"text\": \"3\"}\n";
    assert_eq!(
        error_of(content.as_bytes(), &defaults()),
        "corpus:3: the id `a` is that of line 1 already; allow_duplicate_ids accepts that, and \
         group_rows makes one document of neighbouring rows"
    );
    let options = ReadOptions {
        allow_duplicate_ids: true,
        ..defaults()
    };
    assert_eq!(read_text(content, &options).len(), 3);
}

#[test]
fn nothing_follows_an_error() {
    let files = Files::new(&[("corpus", b"{\"text\": \"a\"}\nbroken\n{\"text\": \"b\"}\n")]);
    let reader = CorpusReader::open(&files.path("corpus"), &defaults()).unwrap();
    assert_eq!(
        reader.map(|document| document.is_ok()).collect::<Vec<_>>(),
        [true, false]
    );
}

#[test]
fn csv_takes_columns_by_name_and_quotes_as_usual() {
    let content =
        "id,split,text,labels\r\na,train,\"The \"\"sea\"\",\nwaves\",sea;air\r\nb,test,Air,\r\n";
    assert_eq!(
        show(&read_text(content, &defaults())),
        ["a|The \"sea\",\nwaves|sea;air", "b|Air|"]
    );
    let options = ReadOptions {
        text_fields: strings(&["split", "text"]),
        filters: vec!["split=test".parse().unwrap()],
        ..defaults()
    };
    assert_eq!(show(&read_text(content, &options)), ["b|test\nAir|"]);
}

#[test]
fn annif_csv_has_uris_between_blanks() {
    let content = "text,subject_uris\nThe sea,<http://a/1> http://a/2\n";
    assert_eq!(
        show(&read_text(content, &defaults())),
        ["1|The sea|http://a/1;http://a/2"]
    );
}

#[test]
fn what_separates_labels_is_asked_for() {
    let content = "text,labels\na,sea\nb,\"sea,air\"\n";
    let message = error_of(content.as_bytes(), &defaults());
    assert!(
        message.starts_with("corpus:3: the labels `sea,air` hold `,`"),
        "{message}"
    );
    let options = ReadOptions {
        label_separator: Some(",".into()),
        ..defaults()
    };
    assert_eq!(
        show(&read_text(content, &options)),
        ["1|a|sea", "2|b|sea;air"]
    );
    let files = Files::new(&[("corpus", b"text,labels\na,sea;air\n")]);
    let mut reader = CorpusReader::open(&files.path("corpus"), &defaults()).unwrap();
    assert_eq!(reader.by_ref().count(), 1);
    assert_eq!(
        reader.warnings(),
        ["labels are split at `;`; label_separator chooses another separator"]
    );
}

#[test]
fn tsv_has_a_header_and_no_quotes() {
    let content = "text\tlabels\tid\n\"The sea\tsea\tx\n\nAir\t\ty\n";
    assert_eq!(
        show(&read_text(content, &defaults())),
        ["x|\"The sea|sea", "y|Air|"]
    );
}

#[test]
fn rows_of_other_widths_than_the_header_are_named() {
    assert_eq!(
        error_of(b"text,labels\na,b\nc\n", &defaults()),
        "corpus:3: 1 columns, but the header has 2"
    );
    assert_eq!(
        error_of(b"text\tlabels\na\tb\tc\n", &defaults()),
        "corpus:2: 3 columns, but the header has 2; delimiter=tab reads cells in quotes, which may \
         hold line ends"
    );
    assert_eq!(
        error_of(b"text,labels\n", &defaults()),
        "corpus: the file has no documents"
    );
    let options = ReadOptions {
        format: Some(Format::Csv),
        ..defaults()
    };
    assert_eq!(
        error_of(b"a,b\n1,2\n", &options),
        "corpus:1: no column `text`; columns found: a, b. Name another with text_field"
    );
}

#[test]
fn text_pairs_belong_together_line_by_line() {
    let texts = "The sea\n\nAir\n";
    let documents = read_pair(texts, "sea air\n\n air \n", defaults()).unwrap();
    assert_eq!(show(&documents), ["1|The sea|sea;air", "2||", "3|Air|air"]);
    let options = ReadOptions {
        label_separator: Some("|".into()),
        ..defaults()
    };
    let documents = read_pair("x\n", "open sea|air\n", options).unwrap();
    assert_eq!(show(&documents), ["1|x|open sea;air"]);
    assert_eq!(
        read_pair(texts, "sea\n", defaults()).unwrap_err(),
        "corpus:2: a text without labels: labels ends after 1 lines"
    );
    assert_eq!(
        read_pair(texts, "a\nb\nc\nd\n", defaults()).unwrap_err(),
        "labels:4: more lines than the 3 texts of corpus"
    );
}

#[test]
fn texts_alone_are_read_when_asked_for() {
    let options = ReadOptions {
        format: Some(Format::TextPair),
        ..defaults()
    };
    assert_eq!(
        show(&read_text("The sea\nAir\n", &options)),
        ["1|The sea|", "2|Air|"]
    );
}

#[test]
fn xmc_libsvm_counts_from_zero_within_its_header() {
    let files = Files::new(&[("corpus", b"3 10 5\n0,4 3:0.5 1:2\n 9:1\n\n")]);
    let mut reader = CorpusReader::open(&files.path("corpus"), &defaults()).unwrap();
    assert_eq!(
        (reader.format(), reader.num_features()),
        (Format::XmcLibsvm, Some(10))
    );
    let documents: Vec<Document> = reader.by_ref().map(Result::unwrap).collect();
    assert_eq!(
        show(&documents),
        ["1|[1, 3] [2.0, 0.5]|0;4", "2|[9] [1.0]|", "3|[] []|"]
    );
    let documents = read_pair("1 10 2\n1 3:1\n", "sea\nair\n", defaults()).unwrap();
    assert_eq!(show(&documents), ["1|[3] [1.0]|air"]);
}

#[test]
fn broken_xmc_libsvm_names_the_line() {
    let cases = [
        (
            "1 10 5\n0 10:1\n",
            "corpus:2: feature 10 is out of bounds: the header promises 10 features, counted from 0",
        ),
        (
            "1 10 5\n5 1:1\n",
            "corpus:2: label 5 is out of bounds: the header promises 5 labels, counted from 0",
        ),
        (
            "1 10 5\n0 1:nan\n",
            "corpus:2: the value of the feature `1:nan` is not a finite number",
        ),
        (
            "1 10 5\nsea 1:1\n",
            "corpus:2: the label number `sea` is not a whole number",
        ),
        (
            "2 10 5\n0 1:1\n",
            "corpus:2: the file ends after 1 documents, but its header promises 2",
        ),
        (
            "1 10 5\n0 1:1\n0 1:1\n",
            "corpus:3: more documents than the 1 that the header promises",
        ),
        ("0 10 5\n", "corpus: the file has no documents"),
    ];
    for (content, expected) in cases {
        assert_eq!(error_of(content.as_bytes(), &defaults()), expected);
    }
    assert_eq!(
        read_pair("1 10 5\n0 1:1\n", "sea\nair\n", defaults()).unwrap_err(),
        "corpus:1: the header promises 5 labels, but the label file has 2"
    );
}

#[test]
fn libsvm_without_header_needs_to_know_the_first_number() {
    let content = "0,7 1:0.5\n\n3 4:1 2:1\n";
    assert_eq!(
        error_of(content.as_bytes(), &defaults()),
        "corpus: libsvm without header does not say whether features are counted from 0 or 1; \
         pass index_base=0 or index_base=1"
    );
    let options = ReadOptions {
        index_base: Some(1),
        ..defaults()
    };
    assert_eq!(
        show(&read_text(content, &options)),
        ["1|[0] [0.5]|0;7", "2|[1, 3] [1.0, 1.0]|3"]
    );
    assert_eq!(
        error_of(b"0 0:1\n", &options),
        "corpus:1: feature 0, but features are counted from 1"
    );
    let files = Files::new(&[("corpus", content.as_bytes())]);
    let reader = CorpusReader::open(&files.path("corpus"), &options).unwrap();
    assert_eq!(reader.warnings(), ["features are counted from 1, as asked"]);
}

#[test]
fn xmc_pairs_are_two_matrices() {
    let documents = read_pair("2 4\n0:1 3:2\n\n", "2 3\n1:1\n0:0 2:1\n", defaults()).unwrap();
    assert_eq!(show(&documents), ["1|[0, 3] [1.0, 2.0]|1", "2|[] []|2"]);
    let cases = [
        (
            "2 4\n0:1\n",
            "2 3\n1:1\n1:1\n",
            "corpus:2: the file ends after 1 rows, but its header promises 2",
        ),
        (
            "1 4\n0:1\n",
            "1 3\n1:1\n1:1\n",
            "labels:3: more rows than the 1 that the header promises",
        ),
        (
            "1 4\n0:1\n",
            "1 3\n3:1\n",
            "labels:2: label 3 is out of bounds: the header promises 3 labels, counted from 0",
        ),
        (
            "1 4\n0:1\n",
            "2 3\n1:1\n1:1\n",
            "labels:1: the header promises 2 rows, but that of corpus promises 1",
        ),
        (
            "1 4\n0:1\n",
            "sea\n",
            "labels:1: expected a header of two numbers: rows columns",
        ),
    ];
    for (features, labels, expected) in cases {
        assert_eq!(
            read_pair(features, labels, defaults()).unwrap_err(),
            expected
        );
    }
    let message = error_of(b"1 4\n0:1\n", &defaults());
    assert!(message.contains("needs the matrix of its labels beside it; name it with labels_file"));
}

#[test]
fn xmc_raw_counts_in_its_label_file() {
    let content = "{\"uid\": \"a\", \"title\": \"Sea\", \"content\": \"waves\", \"target_ind\": [1, 0], \"target_rel\": [1, 1]}\n\
                   {\"uid\": \"b\", \"title\": \"Air\", \"content\": \"\", \"target_ind\": []}\n";
    let labels = "{\"uid\": \"B0\", \"title\": \"Zero\"}\n{\"uid\": \"B1\", \"title\": \"One\"}\n";
    let files = Files::new(&[
        ("corpus", content.as_bytes()),
        ("labels", labels.as_bytes()),
    ]);
    let options = ReadOptions {
        labels_path: Some(files.path("labels")),
        ..defaults()
    };
    let mut reader = CorpusReader::open(&files.path("corpus"), &options).unwrap();
    let documents: Vec<Document> = reader.by_ref().map(Result::unwrap).collect();
    assert_eq!(show(&documents), ["a|Sea\nwaves|B1;B0", "b|Air|"]);
    assert_eq!(reader.vocabulary()[1].name, "One");

    assert_eq!(
        read_pair(
            "{\"uid\": \"a\", \"title\": \"Sea\", \"target_ind\": [2]}\n",
            labels,
            defaults()
        )
        .unwrap_err(),
        "corpus:1: unknown label number 2: labels has 2 labels, counted from 0"
    );
    assert_eq!(
        error_of(content.as_bytes(), &defaults()),
        "corpus: its `target_ind` are line numbers of a label file; name it with labels_file"
    );
}

#[test]
fn text2text_counts_in_its_label_file() {
    let documents = read_pair("1,0\tThe\tsea\n1::0.5\tAir\n", "sea\nair\n", defaults()).unwrap();
    assert_eq!(show(&documents), ["1|The\tsea|air;sea", "2|Air|air"]);
    assert_eq!(
        read_pair("0\tSea\n5\tAir\n", "sea\nair\n", defaults()).unwrap_err(),
        "corpus:2: unknown label number 5: labels has 2 labels, counted from 0"
    );
    assert_eq!(
        error_of(b"0\tSea\n", &defaults()),
        "corpus: the numbers before the tab are line numbers of a label file; \
         name it with labels_file"
    );
    let options = ReadOptions {
        format: Some(Format::Text2Text),
        ..defaults()
    };
    assert_eq!(
        read_pair("0\tSea\nAir\n", "sea\n", options).unwrap_err(),
        "corpus:2: expected label numbers, a tab, and text"
    );
}

#[test]
fn fasttext_has_labels_as_words() {
    let documents = read_text("__label__sea __label__air The sea\nno label\n", &defaults());
    assert_eq!(show(&documents), ["1|The sea|sea;air", "2|no label|"]);
    let options = ReadOptions {
        label_prefix: "#".into(),
        ..defaults()
    };
    assert_eq!(show(&read_text("#sea waves\n", &options)), ["1|waves|sea"]);
    assert_eq!(
        error_of(b"__label__a x\n__label__ y\n", &defaults()),
        "corpus:2: a label without a name after `__label__`"
    );
}

#[test]
fn annif_tsv_has_text_before_uris() {
    let content = "The sea\t<http://a/1> <http://a/2>\nAir\t<http://a/2>\t<http://a/3>\n";
    assert_eq!(
        show(&read_text(content, &defaults())),
        [
            "1|The sea|http://a/1;http://a/2",
            "2|Air|http://a/2;http://a/3"
        ]
    );
    let options = ReadOptions {
        format: Some(Format::AnnifTsv),
        ..defaults()
    };
    assert_eq!(
        error_of(b"The sea\t<http://a/1>\nsea\tThe sea\n", &options),
        "corpus:2: expected text, a tab, and subjects such as <http://..>"
    );
}

#[test]
fn libmultilabel_has_labels_before_text_and_is_never_guessed() {
    let message = error_of(b"sea air\tThe sea\nair\tAir\n", &defaults());
    assert!(
        message.starts_with("corpus:1: lines with tabs, but neither a header"),
        "{message}"
    );
    let options = ReadOptions {
        format: Some(Format::LibMultiLabelTsv),
        ..defaults()
    };
    assert_eq!(
        show(&read_text("sea air\tThe sea\nair\tAir\n", &options)),
        ["1|The sea|sea;air", "2|Air|air"]
    );
    assert_eq!(
        show(&read_text("x\tsea air\tThe sea\n", &options)),
        ["x|The sea|sea;air"]
    );
    let message = error_of(b"sea\tThe sea\nx\tair\tAir\n", &options);
    assert!(
        message.starts_with("corpus:2: 3 columns; expected labels and text"),
        "{message}"
    );
}

#[test]
fn unreadable_files_are_told_apart() {
    assert_eq!(error_of(b"", &defaults()), "corpus: the file is empty");
    assert_eq!(error_of(b"\n \n", &defaults()), "corpus: only blank lines");
    assert_eq!(
        error_of(b"\x7fELF\x02\0\0\0", &defaults()),
        "corpus: a binary file; expected text, plain or as gz, xz, zst"
    );
    let message = error_of(b"Just some text.\n", &defaults());
    assert!(
        message.starts_with("corpus:1: cannot tell the format of this file"),
        "{message}"
    );
    let folder = tempfile::tempdir().unwrap();
    let message = read_all(folder.path(), &defaults())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains(": a folder without files of a corpus"),
        "{message}"
    );
    let missing = folder.path().join("missing.jsonl");
    let error = read_all(&missing, &defaults()).unwrap_err();
    assert!(
        matches!(&error, Error::Read { path, .. } if *path == missing),
        "{error}"
    );
}

#[test]
fn truncated_gzip_is_named_with_the_line_it_broke_off_at() {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for line in 0..40_000_u64 {
        let noise = line.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        writeln!(encoder, "{{\"id\": {line}, \"text\": \"{noise:x}\"}}").unwrap();
    }
    let whole = encoder.finish().unwrap();
    let message = error_of(&whole[..whole.len() - 2000], &defaults());
    assert!(message.starts_with("corpus:3"), "{message}");
    assert!(
        message.ends_with(": the file ends in the middle of compressed data"),
        "{message}"
    );
}
