//! What XML-RNN and XML-CNN learn.

use plethora_core::IndexRows;

use super::*;

/// Share of documents whose first label is right, of those after the first `num_trained`; and the same where all get
/// the most frequent label.
fn first_labels(system: &str, num_trained: usize) -> (f64, f64) {
    let catalogue = Catalogue::new(CatalogueConfig {
        num_documents: num_trained as u64 + 300,
        num_labels: Some(100),
        ..CatalogueConfig::default()
    });
    let documents: Vec<Document> = catalogue
        .unwrap()
        .documents()
        .map(|record| Document {
            id: record.id,
            content: Content::Text(format!("{}\n{}", record.title, record.text)),
            labels: record.labels,
        })
        .collect();
    let mut config = small(system);
    config.vectors.width = 32;
    config.vectors.skip_gram.width = 32;
    config.train = OpenWordConfig::of_system(system)
        .unwrap()
        .settled(num_trained)
        .train;
    config.train.valid_share = 0.0;
    config.train.epochs = 6;
    let mut builder = WordSetBuilder::new(WordReader::new(&config).unwrap());
    for document in &documents[..num_trained] {
        builder.add(document.clone()).unwrap();
    }
    let set = builder.finish(&[]).unwrap();
    let (model, _) = train(&set, &config, &TempDir::new().unwrap());
    let held: Vec<&Document> = documents[num_trained..].iter().collect();
    let texts: Vec<&str> = held
        .iter()
        .map(|document| document.text().unwrap())
        .collect();
    let keys = |label: LabelId| set.space.labels()[label.index()].key.clone();
    let right = |ranking: &dyn Fn(usize) -> LabelId| {
        let hits = (0..held.len()).filter(|&one| held[one].labels.contains(&keys(ranking(one))));
        hits.count() as f64 / held.len() as f64
    };
    let rankings = model.rank_texts(&texts, OPTIONS).unwrap();
    let of_labels: IndexRows = set.labels_of_documents.transpose(set.space.len());
    let frequent = (0..set.space.len()).max_by_key(|&label| of_labels.row(label).len());
    let frequent = LabelId(frequent.unwrap() as u32);
    (right(&|one| rankings[one][0].label), right(&|_| frequent))
}

#[test]
fn xml_rnn_and_xml_cnn_learn_more_than_how_frequent_labels_are() {
    for (system, least) in [("xml-rnn", 0.35), ("xml-cnn", 0.24)] {
        let (found, frequent) = first_labels(system, 1200);
        assert!(frequent < 0.2, "{frequent}");
        assert!(found > least, "{system}: {found}, by frequency {frequent}");
    }
}
