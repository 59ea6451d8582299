//! The command that trains with the settings that a search has found.

use std::path::{Path, PathBuf};

use plethora_core::corpus::VocabularyFile;

use crate::data_args::DataArgs;
use crate::device_args::DeviceArgs;
use crate::shell::quoted;
use crate::validation_args::ValidationArgs;

/// What `train` has in common with the search.
#[derive(Debug, Clone)]
pub(crate) struct TrainCommand<'a> {
    pub(crate) data: &'a [PathBuf],
    pub(crate) output: &'a Path,
    pub(crate) vocabulary: Option<VocabularyFile>,
    pub(crate) validation: &'a ValidationArgs,
    pub(crate) input: &'a DataArgs,
    pub(crate) device: DeviceArgs,
}

/// Arguments as they come together.
#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn add(&mut self, option: &str, value: Option<impl AsRef<str>>) {
        if let Some(value) = value {
            self.0.push(option.to_owned());
            self.0.push(quoted(value.as_ref()));
        }
    }

    fn add_path(&mut self, option: &str, path: Option<&Path>) {
        self.add(option, path.map(Path::to_string_lossy));
    }
}

impl TrainCommand<'_> {
    /// The command line that trains on all of the data, held-back documents included.
    pub(crate) fn line(&self, settings: &Path) -> String {
        let mut words = Words(vec!["plethora".into(), "train".into()]);
        let data = self.data.iter();
        words
            .0
            .extend(data.map(|path| quoted(&path.to_string_lossy())));
        words.add_path("-o", Some(self.output));
        words.add_path("--config", Some(settings));
        if let Some(VocabularyFile { path, languages }) = &self.vocabulary {
            words.add_path("--vocabulary", Some(path));
            let languages = languages.to_string();
            words.add(
                "--vocabulary-languages",
                (!languages.is_empty()).then_some(languages),
            );
        }
        let validation = self.validation;
        words.add_path("--valid", validation.valid.as_deref());
        for filter in &validation.valid_where {
            words.add("--valid-where", Some(filter.to_string()));
        }
        words.add_path(
            "--valid-labels-file",
            validation.valid_labels_file.as_deref(),
        );
        self.add_input(&mut words);
        let device = self.device.device.to_string();
        words.add("--device", (device != "cpu").then_some(device));
        words.0.join(" ")
    }

    fn add_input(&self, words: &mut Words) {
        let input = self.input;
        words.add("--format", input.format.map(|format| format.to_string()));
        words.add(
            "--delimiter",
            input.delimiter.map(|given| given.to_string()),
        );
        words.add("--encoding", input.encoding.map(|given| given.to_string()));
        let columns = input.label_columns.join(",");
        words.add("--label-columns", (!columns.is_empty()).then_some(columns));
        if input.group_rows {
            words.0.push("--group-rows".into());
        }
        let fields = input.text_field.join(",");
        words.add("--text-field", (!fields.is_empty()).then_some(fields));
        words.add("--label-field", input.label_field.as_ref());
        words.add("--id-field", input.id_field.as_ref());
        for filter in &input.filters {
            words.add("--where", Some(filter.to_string()));
        }
        words.add_path("--labels-file", input.labels_file.as_deref());
        words.add("--label-separator", input.label_separator.as_ref());
        let usual = plethora_core::corpus::ReadOptions::default().label_prefix;
        let prefix = Some(&input.label_prefix).filter(|prefix| **prefix != usual);
        words.add("--label-prefix", prefix);
        words.add(
            "--index-base",
            input.index_base.map(|base| base.to_string()),
        );
        words.add(
            "--docs-limit",
            input.docs_limit.map(|limit| limit.to_string()),
        );
        if input.allow_duplicate_ids {
            words.0.push("--allow-duplicate-ids".into());
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::commands::train::TrainArgs;

    /// The options that both commands have.
    #[derive(Debug, Parser)]
    struct Options {
        #[command(flatten)]
        validation: ValidationArgs,
        #[command(flatten)]
        device: DeviceArgs,
        #[command(flatten)]
        input: DataArgs,
    }

    #[derive(Debug, Parser)]
    struct Train {
        #[command(flatten)]
        train: TrainArgs,
    }

    #[test]
    fn train_gets_every_option_that_says_which_documents_there_are() {
        let given = "--valid dev.txt --valid-where split=dev --valid-labels-file dev.labels \
            --format text-pair --text-field title,text --label-field subjects --id-field key \
            --where split=train --where year=1999 --labels-file train.labels --label-separator ; \
            --label-prefix # --delimiter tab --encoding latin1 --label-columns a,b..c --group-rows \
            --index-base 1 --docs-limit 500 --allow-duplicate-ids";
        let gpu = plethora_system::Device::Cuda(1);
        let device = match crate::registry().check_device(gpu) {
            Ok(()) => " --device cuda:1",
            Err(_) => "",
        };
        let given = format!("{given}{device}");
        let words = std::iter::once("options").chain(given.split_whitespace());
        let options = Options::parse_from(words);
        let line = TrainCommand {
            data: &["my books.txt".into(), "more.csv".into()],
            output: Path::new("search/final"),
            vocabulary: Some(VocabularyFile {
                path: "terms.tsv".into(),
                languages: "de,en".parse().unwrap(),
            }),
            validation: &options.validation,
            input: &options.input,
            device: options.device,
        }
        .line(Path::new("search/best.toml"));
        let start = "plethora train 'my books.txt' more.csv -o search/final --config search/best.toml \
                     --vocabulary terms.tsv --vocabulary-languages de,en --valid dev.txt ";
        assert!(line.starts_with(start), "{line}");
        for option in given
            .split_whitespace()
            .filter(|word| word.starts_with("--"))
        {
            assert!(line.contains(option), "{option} is not in {line}");
        }
        assert!(
            line.contains(" --label-separator ';' --label-prefix '#' "),
            "{line}"
        );
        let unquoted = line
            .replace("'my books.txt'", "books.txt")
            .replace('\'', "");
        let parsed = Train::try_parse_from(unquoted.split(' ').skip(1)).unwrap();
        let shown = format!("{:?}", parsed.train);
        assert!(shown.contains(&format!("{:?}", options.input)), "{shown}");
        assert!(
            shown.contains(&format!("{:?}", options.validation)),
            "{shown}"
        );
    }
}
