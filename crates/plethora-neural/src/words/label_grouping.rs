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
        Ok(grouping(
            &self.tree,
            self.widths.as_deref(),
            tfidf,
            features,
        ))
    }

    /// As [`finish`](Self::finish), of all documents but those of `held`, which rise.
    pub(super) fn finish_without(&self, held: &[u32]) -> Result<LabelGrouping> {
        let (tfidf, features, _) = self.features.finish_without(held)?;
        Ok(grouping(
            &self.tree,
            self.widths.as_deref(),
            tfidf,
            features,
        ))
    }
}

fn grouping(
    tree: &TreeConfig,
    widths: Option<&[usize]>,
    tfidf: TfIdf,
    features: SparseMatrix,
) -> LabelGrouping {
    LabelGrouping {
        of_names: (tree.label_text_weight > 0.0).then_some(tfidf),
        tree: tree.clone(),
        widths: widths.map(<[usize]>::to_vec),
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
        let mut vectors = label_features(
            &self.features,
            &documents_of_labels,
            tree.max_label_features,
        );
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

#[cfg(test)]
mod tests {
    use plethora_core::LabelId;
    use plethora_core::corpus::Label;

    use super::*;
    use crate::words::config::settled;

    /// Eight labels whose documents say one thing and whose names say another.
    fn tree(label_text_weight: f32, widths: Option<Vec<usize>>, seed: u64) -> LabelTree {
        let mut plt = settled("attentionxml-plt").plt.unwrap();
        plt.text.min_df = 1;
        plt.tree.label_text_weight = label_text_weight;
        plt.tree.max_leaf = 4;
        plt.levels.widths = widths;
        let mut grouping = LabelGroupingBuilder::new(&plt).unwrap();
        let labels: Vec<Label> = (0..8)
            .map(|number| Label {
                key: number.to_string(),
                name: (if number % 2 == 0 { "sea" } else { "fire" }).to_owned(),
                ..Label::default()
            })
            .collect();
        let texts: Vec<String> = (0..8)
            .map(|number| (if number < 4 { "sea water" } else { "fire air" }).to_owned())
            .collect();
        grouping.push_batch(&texts);
        let space = LabelSpace::new(labels, vec![1; 8]);
        let labels_of_documents = (0..8).map(|number| vec![number]).collect();
        let grouping = grouping.finish().unwrap();
        grouping
            .tree(&space, &labels_of_documents, SeedStream::new(seed))
            .unwrap()
    }

    /// Seeds of twenty that group all labels of a kind together. Where both first centres are of one kind,
    /// labels stay as they come.
    fn num_grouped(weight: f32, widths: Option<&[usize]>, kind: fn(LabelId) -> u32) -> usize {
        let is_pure = |seed: &u64| {
            let tree = tree(weight, widths.map(<[usize]>::to_vec), *seed);
            let labels = tree.labels(1);
            labels.len() == 4 && labels.iter().all(|&one| kind(one) == kind(labels[0]))
        };
        (0..20).filter(is_pure).count()
    }

    #[test]
    fn names_of_labels_group_them_where_they_have_weight() {
        let by_documents = |label: LabelId| label.0 / 4;
        let by_names = |label: LabelId| label.0 % 2;
        for widths in [None, Some(&[2][..])] {
            assert!(num_grouped(0.0, widths, by_documents) >= 8);
            assert_eq!(num_grouped(0.0, widths, by_names), 0);
            assert!(num_grouped(1.0, widths, by_names) >= 8);
        }
    }
}
