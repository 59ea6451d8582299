//! Choosing how much nearer neighbours count, by training documents.

use plethora_core::neighbours::{CHOSEN_BY, ChosenPower, Neighbour, Queries, choose_power, votes};
use plethora_core::{Error, LabelId, ScoredLabel};

use super::neighbour_index::NeighbourIndex;
use super::retriever::Known;
use super::run::TReaderRun;
use crate::Result;

/// Documents whose neighbours are looked for between two checks for a request to stop.
const ASKED_AT_ONCE: usize = 200;

impl TReaderRun<'_> {
    /// The power by which the votes of neighbours alone rank the labels of training documents best, each
    /// ranked as if it were not in the index.
    pub(super) fn choose_power(&self, known: &Known, index: &NeighbourIndex) -> Result<f32> {
        self.progress.start("power", None);
        let asked = ChosenPower::asked(self.documents.len());
        let mut found = Vec::with_capacity(asked.len());
        for places in asked.chunks(ASKED_AT_ONCE) {
            if self.progress.is_cancelled() {
                return Err(Error::Interrupted.into());
            }
            found.extend(self.nearest_others(index, places));
        }
        let labels_of = |place: u32| known.documents().labels(place).iter().copied();
        let truths: Vec<Vec<LabelId>> = (asked.iter())
            .map(|&place| labels_of(place).map(LabelId).collect())
            .collect();
        let num_labels = self.set.space.len();
        let chosen = choose_power(num_labels, &truths, |number, power| -> Vec<ScoredLabel> {
            let mut ranked = votes(&found[number], power, labels_of);
            // Stable: of equal votes the first label comes first.
            ranked.sort_by(|left, right| right.score.total_cmp(&left.score));
            ranked
        })?;
        self.progress.finish(&format!(
            "{} is best for {} training documents: {CHOSEN_BY} {:.4}",
            chosen.power, chosen.num_asked, chosen.score
        ));
        Ok(chosen.power)
    }

    /// The neighbours of documents by their places in the index, without themselves.
    fn nearest_others(&self, index: &NeighbourIndex, places: &[u32]) -> Vec<Vec<Neighbour>> {
        let numbers: Vec<u32> = (places.iter())
            .map(|&place| self.documents[place as usize])
            .collect();
        let limit = self.config.neighbours.limit;
        let queries = Queries {
            skips_copies: self.config.neighbours.skips_copies,
            ..Queries::of_others(limit + 1)
        };
        let mut found = self.nearest(index, &numbers, &queries);
        for (neighbours, &place) in found.iter_mut().zip(places) {
            neighbours.retain(|neighbour| neighbour.document != place);
            neighbours.truncate(limit);
        }
        found
    }
}
