//! More labels, or fewer, for an ensemble: its members get them that can, the others stay as they are.

use plethora_core::artifact::{CONFIG_FILE, ModelCopy, ModelReader, ModelWriter};
use plethora_core::corpus::Label;
use plethora_core::{Error, NoProgress, Result};

use super::config::{EnsembleConfig, FUSION_FILE, LABEL_WEIGHTS_FILE};
use super::member_folder::MemberFolder;
use crate::{LabelChange, LabelEdit, OpenParts};

/// Writes settings and members of an ensemble with other labels. Members that cannot be rid of a label go on
/// ranking it, and the ensemble does not listen.
///
/// # Errors
/// [`Error::Model`] if members are linked, or there are labels to add and no member can take them.
pub(super) fn write_members(
    folder: &ModelReader,
    parts: &OpenParts<'_>,
    change: &LabelChange<'_>,
    writer: &ModelWriter,
) -> Result<()> {
    let config = EnsembleConfig::of(folder)?;
    if !config.links.is_empty() {
        let message = "links to its members: change these, and put it together again";
        return Err(Error::model(folder.folder(), message));
    }
    let edit = LabelEdit {
        added: (change.added.iter())
            .map(|&label| change.labels.label(label).clone())
            .collect(),
        retired: (parts.labels.labels().iter().zip(change.new_ids))
            .filter(|(_, id)| id.is_none())
            .map(|(label, _)| label.key.clone())
            .collect(),
        documents: change.documents.to_vec(),
    };
    let mut num_widened = 0;
    for member in MemberFolder::all(folder, &config)? {
        let family = parts.registry.family_of(&member.folder)?;
        if family.changes_labels() && concerns(&edit, &member)? {
            let own = ModelWriter::create(&writer.path(&member.name), false)?;
            parts.registry.edit_labels(&member.folder, &edit, own)?;
            num_widened += 1;
        } else {
            let copy = ModelCopy {
                folder: Some(&member.name),
                ..ModelCopy::default()
            };
            copy.run(&member.folder, writer, &NoProgress)?;
        }
    }
    if num_widened == 0 && !edit.added.is_empty() {
        let message = "no member finds labels by their names or documents; train it again";
        return Err(Error::model(folder.folder(), message));
    }
    for name in [CONFIG_FILE, FUSION_FILE, LABEL_WEIGHTS_FILE] {
        if folder.contains(name) {
            writer.write_bytes(name, &folder.read_bytes(name)?)?;
        }
    }
    Ok(())
}

/// True where a member would change.
fn concerns(edit: &LabelEdit, member: &MemberFolder) -> Result<bool> {
    if !edit.added.is_empty() {
        return Ok(true);
    }
    let labels = plethora_core::artifact::load_label_space(&member.folder)?;
    let is_retired = |label: &Label| edit.retired.contains(&label.key);
    let num_left = labels
        .labels()
        .iter()
        .filter(|label| !is_retired(label))
        .count();
    // A member of nothing but labels that go stays as it is, unheard.
    Ok(num_left < labels.len() && num_left > 0)
}
