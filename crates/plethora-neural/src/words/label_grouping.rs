//! The label tree of a system with levels, and what it takes to build it.

use plethora_core::corpus::LabelSpace;
use plethora_core::text::{TfIdf, TfIdfBuilder};
use plethora_core::tree::{
    LabelTree, TreeConfig, add_label_text, build, build_wide, label_features, label_texts,
};
use plethora_core::{IndexRows, Result, SeedStream, SparseMatrix};

use super::plt_config::PltConfig;

/// Labels that are grouped by the features of their documents.
#[derive(Debug)]
pub(super) struct LabelGrouping {
    tree: TreeConfig,
    widths: Option<Vec<usize>>,
    /// Of documents.
    features: SparseMatrix,
    /// What makes features of the labels' names, where these count.
    of_names: Option<TfIdf>,
}

/// Reads documents as features.
#[derive(Debug)]
pub(super) struct LabelGroupingBuilder {
    tree: TreeConfig,
    widths: Option<Vec<usize>>,
    features: TfIdfBuilder,
}

impl LabelGroupingBuilder {
    pub(super) fn new(plt: &PltConfig) -> Result<Self> {
        Ok(Self {
            tree: plt.tree.clone(),
            widths: plt.levels.widths.clone(),
            features: TfIdfBuilder::new(plt.text.clone())?,
        })
    }

    pub(super) fn push_batch(&mut self, texts: &[String]) {
        self.features.push_batch(texts);
    }

    pub(super) fn finish(self) -> Result<LabelGrouping> {
        let (tfidf, features) = self.features.finish()?;
        Ok(grouping(&self.tree, &self.widths, tfidf, features))
    }

    /// As [`finish`](Self::finish), of all documents but those of `held`, which rise.
    pub(super) fn finish_without(&self, held: &[u32]) -> Result<LabelGrouping> {
        let (tfidf, features, _) = self.features.finish_without(held)?;
        Ok(grouping(&self.tree, &self.widths, tfidf, features))
    }
}

fn grouping(
    tree: &TreeConfig,
    widths: &Option<Vec<usize>>,
    tfidf: TfIdf,
    features: SparseMatrix,
) -> LabelGrouping {
    LabelGrouping {
        of_names: (tree.label_text_weight > 0.0).then_some(tfidf),
        tree: tree.clone(),
        widths: widths.clone(),
        features,
    }
}

impl LabelGrouping {
    /// The tree over all labels.
    pub(super) fn tree(
        &self,
        space: &LabelSpace,
        labels_of_documents: &IndexRows,
        seed: SeedStream,
    ) -> Result<LabelTree> {
        let tree = &self.tree;
        let documents_of_labels = labels_of_documents.transpose(space.len());
        let mut vectors =
            label_features(&self.features, &documents_of_labels, tree.max_label_features);
        if let Some(tfidf) = &self.of_names {
            let names = tfidf.transform(&label_texts(space));
            vectors = add_label_text(&vectors, &names, tree.label_text_weight);
        }
        match &self.widths {
            Some(widths) => build_wide(&vectors, widths, tree, seed)
                .map_err(|error| error.within("levels").within("plt")),
            None => build(&vectors, space, tree, seed),
        }
    }
}
