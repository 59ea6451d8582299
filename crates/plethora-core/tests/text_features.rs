//! TF-IDF as a whole: agreement with scikit-learn, and independence from threads and batches.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;

use plethora_core::text::{TfIdf, TfIdfBuilder, TfIdfConfig};
use plethora_core::{SparseMatrix, SparseRow, TermId};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    train: Vec<String>,
    test: Vec<String>,
    cases: BTreeMap<String, Case>,
}

#[derive(Deserialize)]
struct Case {
    terms: Vec<String>,
    idf: Vec<f64>,
    train: Vec<(Vec<u32>, Vec<f64>)>,
    test: Vec<(Vec<u32>, Vec<f64>)>,
}

fn golden() -> Golden {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/text/tfidf_golden.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn fit(config: TfIdfConfig, batches: &[&[String]]) -> (TfIdf, SparseMatrix) {
    let mut builder = TfIdfBuilder::new(config).unwrap();
    for batch in batches {
        builder.push_batch(batch);
    }
    builder.finish().unwrap()
}

fn assert_rows_agree(matrix: &SparseMatrix, expected: &[(Vec<u32>, Vec<f64>)]) {
    assert_eq!(matrix.num_rows(), expected.len());
    for (row, (columns, values)) in matrix.rows().zip(expected) {
        assert_eq!(row.columns, columns);
        for (value, expected) in row.values.iter().zip(values) {
            assert!(
                (f64::from(*value) - expected).abs() < 1e-6,
                "{value} {expected}"
            );
        }
    }
}

#[test]
fn weights_are_those_of_scikit_learn() {
    let golden = golden();
    let default = TfIdfConfig::default;
    let configs = [
        ("sublinear", default()),
        (
            "plain",
            TfIdfConfig {
                min_df: 1,
                sublinear: false,
                ..default()
            },
        ),
        (
            "bigrams",
            TfIdfConfig {
                max_ngram: 2,
                max_df: 0.4,
                ..default()
            },
        ),
    ];
    assert_eq!(configs.len(), golden.cases.len());
    for (name, config) in configs {
        let case = &golden.cases[name];
        let (tfidf, matrix) = fit(config, &[&golden.train]);
        let terms: Vec<_> = tfidf.vocabulary().terms().collect();
        assert_eq!(terms, case.terms);
        for (idf, expected) in tfidf.idf().iter().zip(&case.idf) {
            assert!((f64::from(*idf) - expected).abs() < 1e-6);
        }
        assert_rows_agree(&matrix, &case.train);
        assert_rows_agree(&tfidf.transform(&golden.test), &case.test);
    }
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("([aAbcdÄßσΣ日]{1,2}[ .]){0,12}", 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn result_does_not_depend_on_threads_or_batches(texts in texts(), cut in 0_usize..300) {
        let cut = cut.min(texts.len());
        let config = TfIdfConfig { min_df: 1, max_ngram: 2, ..TfIdfConfig::default() };
        let run = |num_threads: usize, batches: &[&[String]]| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(num_threads).build().unwrap();
            pool.install(|| {
                let mut builder = TfIdfBuilder::new(config.clone()).unwrap();
                for batch in batches {
                    builder.push_batch(batch);
                }
                builder.finish().ok()
            })
        };
        let one = run(1, &[&texts]);
        let two = run(2, &[&texts[..cut], &texts[cut..]]);
        prop_assert_eq!(one.is_some(), two.is_some());
        if let (Some((left, left_rows)), Some((right, right_rows))) = (one, two) {
            prop_assert!(left.vocabulary().terms().eq(right.vocabulary().terms()));
            prop_assert_eq!(left.idf(), right.idf());
            prop_assert_eq!(left_rows, right_rows);
        }
    }

    #[test]
    fn training_rows_are_what_transform_gives(texts in texts()) {
        let mut builder = TfIdfBuilder::new(TfIdfConfig::default()).unwrap();
        builder.push_batch(&texts);
        prop_assume!(texts.len() > 1);
        if let Ok((tfidf, matrix)) = builder.finish() {
            prop_assert_eq!(&tfidf.transform(&texts), &matrix);
            for (text, row) in texts.iter().zip(matrix.rows()) {
                let alone = tfidf.transform_one(text);
                prop_assert_eq!(alone.as_row(), row);
                prop_assert!(is_unit_or_empty(row));
            }
        }
    }
}

fn is_unit_or_empty(row: SparseRow<'_>) -> bool {
    let length: f32 = row.values.iter().map(|value| value * value).sum();
    row.is_empty() || (length - 1.0).abs() < 1e-5
}

#[test]
fn most_frequent_terms_win_under_max_features() {
    let texts: Vec<String> = ["sea air fire", "sea air", "sea tide", "tide"]
        .map(String::from)
        .into();
    let config = TfIdfConfig {
        min_df: 1,
        max_features: Some(3),
        ..TfIdfConfig::default()
    };
    let (tfidf, _) = fit(config, &[&texts]);
    assert_eq!(tfidf.num_features(), 3);
    assert_eq!(
        [0, 1, 2].map(|id| tfidf.term(TermId(id))),
        ["air", "sea", "tide"]
    );
}
