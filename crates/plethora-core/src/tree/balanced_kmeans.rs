//! Balanced 2-means on the unit sphere: halves a set of labels so that similar ones stay together.

use std::cell::Cell;

use rand::RngExt;
use rayon::prelude::*;

use crate::{SeedStream, SparseMatrix};

/// From this many labels on, similarities are computed in parallel.
const PARALLEL_FROM: usize = 2048;

/// When to stop moving the centres.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StopRule {
    /// Stop when the mean similarity to the own centre gains less than this.
    pub(crate) min_gain: f32,
    /// Stop after this many rounds in any case.
    pub(crate) max_rounds: usize,
}

/// Two centres, interleaved so that one look-up a feature serves both.
type Centres = Vec<[f32; 2]>;

thread_local! {
    /// Zeroed between uses; taken out while in use, because a thread that waits for parallel work
    /// may start another bisection.
    static SPARE_CENTRES: Cell<Centres> = const { Cell::new(Vec::new()) };
}

/// Reorders `labels` so that the first `left_size` of them form one cluster and the rest the
/// other. The result depends on the seed alone, not on the number of threads.
pub(crate) fn bisect(
    features: &SparseMatrix,
    labels: &mut [u32],
    left_size: usize,
    rule: StopRule,
    seed: SeedStream,
) {
    if left_size == 0 || left_size >= labels.len() {
        return;
    }
    let mut centres = SPARE_CENTRES.take();
    centres.resize(features.num_columns(), [0.0; 2]);
    let mut rng = seed.rng();
    let first = rng.random_range(0..labels.len());
    let second = (first + rng.random_range(1..labels.len())) % labels.len();
    add_to_centre(&mut centres, features, labels[first], 0);
    add_to_centre(&mut centres, features, labels[second], 1);

    let mut members: Vec<Member> = labels
        .iter()
        .map(|&label| Member {
            label,
            similarity: [0.0; 2],
        })
        .collect();
    measure(&mut members, features, &centres, [1.0; 2]);
    clear(&mut centres, features, &[labels[first], labels[second]]);

    let mut best_mean = f32::NEG_INFINITY;
    for _ in 0..rule.max_rounds {
        members.select_nth_unstable_by(left_size - 1, Member::by_preference);
        let mean = mean_similarity(&members, left_size);
        if mean - best_mean < rule.min_gain {
            break;
        }
        best_mean = mean;
        for (position, member) in members.iter().enumerate() {
            add_to_centre(
                &mut centres,
                features,
                member.label,
                usize::from(position >= left_size),
            );
        }
        let scale = centre_scale(&members, features, &centres, left_size);
        measure(&mut members, features, &centres, scale);
        clear(&mut centres, features, labels);
    }
    SPARE_CENTRES.set(centres);
    for (slot, member) in labels.iter_mut().zip(&members) {
        *slot = member.label;
    }
    // The order inside a half carries no meaning: sorted, it does not depend on the selection.
    labels[..left_size].sort_unstable();
    labels[left_size..].sort_unstable();
}

/// Splits `labels` into `parts` runs whose sizes differ by at most one.
pub(crate) fn split_evenly<'a>(
    features: &SparseMatrix,
    labels: &'a mut [u32],
    parts: usize,
    rule: StopRule,
    seed: SeedStream,
) -> Vec<&'a mut [u32]> {
    let parts = parts.min(labels.len()).max(1);
    if parts == 1 {
        return vec![labels];
    }
    let left_parts = parts / 2;
    let left_size = left_parts * (labels.len() / parts) + left_parts.min(labels.len() % parts);
    bisect(features, labels, left_size, rule, seed);
    let (left, right) = labels.split_at_mut(left_size);
    let (mut left, right) = rayon::join(
        || split_evenly(features, left, left_parts, rule, seed.child(0)),
        || split_evenly(features, right, parts - left_parts, rule, seed.child(1)),
    );
    left.extend(right);
    left
}

struct Member {
    label: u32,
    similarity: [f32; 2],
}

impl Member {
    /// Those who lean most to the first centre come first; ties go by label.
    fn by_preference(left: &Self, right: &Self) -> std::cmp::Ordering {
        let lean = |member: &Self| member.similarity[0] - member.similarity[1];
        lean(right)
            .total_cmp(&lean(left))
            .then(left.label.cmp(&right.label))
    }
}

fn measure(members: &mut [Member], features: &SparseMatrix, centres: &Centres, scale: [f32; 2]) {
    let similarity = |member: &mut Member| {
        let sums = similarities(features, member.label, centres);
        member.similarity = [scale[0] * sums[0], scale[1] * sums[1]];
    };
    if members.len() < PARALLEL_FROM {
        members.iter_mut().for_each(similarity);
    } else {
        members.par_iter_mut().for_each(similarity);
    }
}

fn similarities(features: &SparseMatrix, label: u32, centres: &Centres) -> [f32; 2] {
    let mut sums = [0.0_f32; 2];
    for (column, value) in features.row(label as usize).iter() {
        let centre = centres[column];
        sums[0] += value * centre[0];
        sums[1] += value * centre[1];
    }
    sums
}

fn mean_similarity(members: &[Member], left_size: usize) -> f32 {
    let (left, right) = members.split_at(left_size);
    let total: f64 = left
        .iter()
        .map(|member| f64::from(member.similarity[0]))
        .sum::<f64>()
        + right
            .iter()
            .map(|member| f64::from(member.similarity[1]))
            .sum::<f64>();
    (total / members.len() as f64) as f32
}

fn add_to_centre(centres: &mut Centres, features: &SparseMatrix, label: u32, side: usize) {
    for (column, value) in features.row(label as usize).iter() {
        centres[column][side] += value;
    }
}

fn clear(centres: &mut Centres, features: &SparseMatrix, labels: &[u32]) {
    for &label in labels {
        for &column in features.row(label as usize).columns {
            centres[column as usize] = [0.0; 2];
        }
    }
}

/// What brings each centre, a plain sum of its members, to unit length. Clears nothing and visits
/// only the members' own features, so that small clusters of a wide vocabulary stay cheap.
fn centre_scale(
    members: &[Member],
    features: &SparseMatrix,
    centres: &Centres,
    left_size: usize,
) -> [f32; 2] {
    let mut squares = [0.0_f64; 2];
    for (position, member) in members.iter().enumerate() {
        // The squared length of a sum is the sum of its members' products with it.
        let side = usize::from(position >= left_size);
        squares[side] += f64::from(similarities(features, member.label, centres)[side]);
    }
    squares.map(|square| {
        if square > 0.0 {
            (1.0 / square.sqrt()) as f32
        } else {
            0.0
        }
    })
}
