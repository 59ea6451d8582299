//! More labels and names of labels, or fewer, for a model that is trained already.

use plethora_core::artifact::ModelWriter;
use plethora_core::corpus::Label;
use plethora_core::{LabelId, Result};
use plethora_system::LabelChange;

use super::model::LexicalModel;
use super::name_table::{MAX_SHARED, NameTable};
use super::phrases::{Entry, PHRASES_FILE, PhraseColumns, Phrases};

/// Writes the phrases of `model` with those of the added names.
pub(super) fn write_phrases(
    model: &LexicalModel,
    change: &LabelChange<'_>,
    writer: &ModelWriter,
) -> Result<()> {
    let space = change.labels;
    let added: Vec<(u32, &Label)> = (change.added.iter())
        .map(|&id| (id.0, space.label(id)))
        .collect();
    let names = NameTable::new(&added, space.train_counts(), &model.config);
    joined(&model.phrases, change.new_ids, &names).write(&writer.path(PHRASES_FILE))
}

/// All phrases of both: what is known of old ones stays, with the new ids of labels.
fn joined(old: &Phrases, new_ids: &[Option<LabelId>], names: &NameTable) -> PhraseColumns {
    let mut old_phrases = old.iter().peekable();
    let mut new_names = names.entries().peekable();
    let mut beginnings = names.beginnings().iter().copied().peekable();
    let mut columns = PhraseColumns::default();
    loop {
        let next_keys = [
            old_phrases.peek().map(|&(key, _)| key),
            new_names.peek().map(|&(key, _)| key),
            beginnings.peek().copied(),
        ];
        let Some(key) = next_keys.into_iter().flatten().min() else {
            return columns;
        };
        beginnings.next_if_eq(&key);
        let mut entries = Vec::new();
        let mut documents = 0;
        if let Some((_, phrase)) = old_phrases.next_if(|&(old, _)| old == key) {
            documents = old.num_documents(phrase);
            entries.extend(old.entries(phrase).filter_map(|entry| {
                let label = new_ids[entry.label as usize]?.0;
                Some(Entry { label, ..entry })
            }));
        }
        while let Some((_, name)) = new_names.next_if(|&(new, _)| new == key) {
            add(&mut entries, name);
        }
        // Names stand before what was learnt.
        entries.sort_by_key(|entry| entry.kind == 0);
        let num_names = entries.iter().filter(|entry| entry.kind != 0).count();
        if num_names > MAX_SHARED {
            entries.drain(MAX_SHARED..num_names);
        }
        columns.push(key, documents, &entries);
    }
}

/// Adds a name, or makes one of what was known of the phrase and the label.
fn add(entries: &mut Vec<Entry>, name: Entry) {
    match entries.iter_mut().find(|entry| entry.label == name.label) {
        Some(known) => {
            if known.kind == 0 {
                known.spelling = name.spelling;
            }
            known.kind |= name.kind;
        }
        None => entries.push(name),
    }
}
