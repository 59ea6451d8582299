//! More labels and names of labels, or fewer, for a model that is trained already.

use std::collections::BTreeMap;

use plethora_core::artifact::{ModelReader, ModelWriter};
use plethora_core::neighbours::DenseIndex;
use plethora_system::{Compute, LabelChange, OpenParts};

use super::label_texts;
use super::model::{LABELS_FILE, SiameseModel};
use super::prototypes::{LEARNT_FILE, Learnt};
use crate::Result;
use crate::systems::vectors::Vectors;

/// Writes what a model with more labels has beside its settings and its encoder.
pub(super) fn write_labels(
    folder: &ModelReader,
    parts: &OpenParts<'_>,
    change: &LabelChange<'_>,
    writer: &ModelWriter,
) -> Result<()> {
    let num_old = parts.labels.len();
    let model = SiameseModel::open(folder, num_old, Compute::default())?;
    let width = model.labels.width();
    let old = Learnt::read(&folder.path(LEARNT_FILE)?, num_old, width)?;
    let learnt = joined(&model, &old, change)?;
    let mut old_ids = vec![None; change.labels.len()];
    for (old, new) in (0..).zip(change.new_ids) {
        if let Some(new) = new {
            old_ids[new.index()] = Some(old);
        }
    }
    // The vectors of those that are new, or have new names.
    let mut is_added = vec![false; change.labels.len()];
    for label in change.added {
        is_added[label.index()] = true;
    }
    let added: Vec<u32> = (0..change.labels.len() as u32)
        .filter(|&label| is_added[label as usize])
        .collect();
    let texts: Vec<Option<String>> = (added.iter())
        .map(|&label| {
            let label = &change.labels.labels()[label as usize];
            label_texts::text_of(label, &model.config.names)
        })
        .collect();
    let read: Vec<String> = texts.iter().flatten().cloned().collect();
    let names = model.vectors(&read)?;
    let mut names = names.chunks(width);
    let mut of_added = added.iter().zip(&texts).map(|(&label, text)| {
        let name = text.as_ref().and_then(|_| names.next());
        learnt.vector(label, name.unwrap_or(&vec![0.0; width]))
    });
    let mut vectors = Vectors::new(width);
    for (label, old) in old_ids.iter().enumerate() {
        match old {
            Some(old) if !is_added[label] => {
                // Of unit length already, in the same precision.
                vectors.push(&halves(&model.labels.vector(*old)));
            }
            _ => vectors.push(&of_added.next().expect("labels are old or added")),
        }
    }
    learnt.write(&writer.path(LEARNT_FILE))?;
    DenseIndex::write_halves(vectors.bits(), width, &writer.path(LABELS_FILE))?;
    Ok(())
}

fn halves(vector: &[f32]) -> Vec<u16> {
    let bits = vector.iter().map(|&value| half::f16::from_f32(value));
    bits.map(half::f16::to_bits).collect()
}

/// What was learnt of old labels, and what the documents of added ones say.
fn joined(model: &SiameseModel, old: &Learnt, change: &LabelChange<'_>) -> Result<Learnt> {
    let width = model.labels.width();
    let mut rows: BTreeMap<u32, Vec<f32>> = BTreeMap::new();
    for (place, &label) in old.labels.iter().enumerate() {
        if let Some(new) = change.new_ids[label as usize] {
            let row = &old.rows[place * width..(place + 1) * width];
            rows.insert(new.0, row.to_vec());
        }
    }
    let mut sums: BTreeMap<u32, (Vec<f32>, u32)> = BTreeMap::new();
    let with_text: Vec<(&str, Vec<u32>)> = (change.documents.iter())
        .filter_map(|document| {
            let labels = document.labels.iter();
            let labels: Vec<u32> = labels
                .filter_map(|key| change.labels.id(key))
                .filter(|label| change.added.contains(label))
                .map(|label| label.0)
                .collect();
            Some((document.text()?, labels))
        })
        .filter(|(_, labels)| !labels.is_empty())
        .collect();
    let texts: Vec<&str> = with_text.iter().map(|(text, _)| *text).collect();
    let vectors = model.vectors(&texts)?;
    for ((_, labels), vector) in with_text.iter().zip(vectors.chunks(width)) {
        for &label in labels {
            let (sum, count) = sums.entry(label).or_insert_with(|| (vec![0.0; width], 0));
            sum.iter_mut().zip(vector).for_each(|(sum, v)| *sum += v);
            *count += 1;
        }
    }
    for (label, (sum, count)) in sums {
        let mean = Learnt::of_mean(&sum, count, &model.config.labels);
        let row = rows.entry(label).or_insert_with(|| vec![0.0; width]);
        row.iter_mut()
            .zip(mean)
            .for_each(|(value, mean)| *value += mean);
    }
    let mut learnt = Learnt::default();
    for (label, row) in rows {
        learnt.labels.push(label);
        learnt.rows.extend(row);
    }
    Ok(learnt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::vectors::unit_halves;

    #[test]
    fn vectors_of_old_labels_stay_to_the_last_bit() {
        let bits = unit_halves(&[0.3, -0.7, 0.11]);
        let numbers: Vec<f32> = (bits.iter())
            .map(|&bits| half::f16::from_bits(bits).to_f32())
            .collect();
        assert_eq!(halves(&numbers), bits);
    }
}
