//! Pruned answers against those of every product.

use proptest::prelude::*;

use super::super::term_index::tests::{index, matrix};
use super::*;

fn entries() -> impl Strategy<Value = Vec<Vec<(u32, f32)>>> {
    let entry = (0_u32..12, prop_oneof![-1.0_f32..-0.1, 0.1_f32..1.0]);
    prop::collection::vec(prop::collection::vec(entry, 0..6), 1..30)
}

proptest! {
    #[test]
    fn neighbours_are_those_of_all_pairs(
        documents in entries(), asked in entries(), limit in 0_usize..8
    ) {
        let (documents, asked) = (matrix(&documents), matrix(&asked));
        let found = index(&documents).nearest(&asked, &Queries::of_others(limit));
        for (query, found) in asked.rows().zip(found) {
            let mut dense = [0.0; 12];
            query.add_to(&mut dense, 1.0);
            let mut all: Vec<f32> = documents.rows().map(|row| row.dot(&dense)).collect();
            for neighbour in &found {
                let expected = all[neighbour.document as usize];
                prop_assert!((neighbour.similarity - expected).abs() < 1e-5);
            }
            all.sort_by(|left, right| right.total_cmp(left));
            let expected = all.iter().take(limit).filter(|&&similarity| similarity > 1e-5);
            prop_assert!(found.len() >= expected.clone().count());
            for (neighbour, similarity) in found.iter().zip(expected) {
                prop_assert!((neighbour.similarity - similarity).abs() < 1e-5);
            }
        }
    }
}

#[test]
fn documents_that_ask_are_left_out_and_their_copies_on_request() {
    let rows = vec![
        vec![(0, 1.0), (1, 1.0)],
        vec![(0, 1.0), (1, 1.0)],
        vec![(1, 1.0), (2, 1.0)],
        vec![],
    ];
    let rows = matrix(&rows);
    let index = index(&rows);
    let documents = |queries: Queries| -> Vec<Vec<u32>> {
        let found = index.nearest(&rows, &queries);
        let of_one = |found: Vec<Neighbour>| found.iter().map(|one| one.document).collect();
        found.into_iter().map(of_one).collect()
    };
    let own = Queries {
        own_from: Some(0),
        ..Queries::of_others(5)
    };
    let strict = Queries {
        skips_copies: true,
        ..own
    };
    let nobody: Vec<u32> = Vec::new();
    assert_eq!(
        documents(Queries::of_others(2)),
        [vec![0, 1], vec![0, 1], vec![2, 0], nobody.clone()]
    );
    assert_eq!(
        documents(own),
        [vec![1, 2], vec![0, 2], vec![0, 1], nobody.clone()]
    );
    assert_eq!(documents(strict), [vec![2], vec![2], vec![0, 1], nobody]);
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    let rows: Vec<Vec<(u32, f32)>> = (0..200_u32)
        .map(|row| (0..5).map(|n| ((row * 7 + n * 3) % 12, 0.5)).collect())
        .collect();
    let rows = matrix(&rows);
    let index = index(&rows);
    let answers = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let queries = Queries {
            own_from: Some(0),
            ..Queries::of_others(7)
        };
        pool.unwrap().install(|| index.nearest(&rows, &queries))
    };
    assert_eq!(answers(1), answers(2));
}

/// What is found without walking to frequent terms, where few documents are left.
fn pruned(asked: Asked<'_>, desk: &mut Desk) -> Option<Vec<Neighbour>> {
    let left = documents_left(desk, &[asked]).remove(0)?;
    Some(asked.among(desk, &left))
}

/// Documents and queries of skewed terms, as texts have them: some in nearly all, many in few. Every
/// third document comes twice, and weights are of few kinds, so that many are equally near.
fn texts(count: u64, seed: u64) -> Vec<Vec<(u32, f32)>> {
    let mut state = seed;
    let mut random = move |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut rows: Vec<Vec<(u32, f32)>> = Vec::new();
    for number in 0..count {
        if number % 3 == 2 {
            rows.push(rows[(number - 1) as usize].clone());
            continue;
        }
        let mut row: Vec<(u32, f32)> = (0..10)
            .filter(|term| random(12) > *term)
            .map(|term| (term as u32, 0.25))
            .collect();
        row.extend((0..6).map(|_| (10 + random(190) as u32, 1.0)));
        if random(2) == 0 {
            for (term, weight) in &mut row {
                *weight *= 1.0 + (*term % 3) as f32;
            }
        }
        rows.push(row);
    }
    rows
}

fn wide(rows: &[Vec<(u32, f32)>], sign: f32) -> SparseMatrix {
    let mut builder = SparseMatrix::builder(200);
    for row in rows {
        let signed = row
            .iter()
            .map(|&(term, weight)| (term, if term % 5 == 0 { sign * weight } else { weight }));
        let mut row = crate::SparseVector::from_entries(signed.collect());
        row.normalize();
        builder.push(row.as_row());
    }
    builder.finish()
}

#[test]
fn pruned_answers_equal_those_of_every_product_to_the_last_bit() {
    let mut num_pruned = 0;
    for (seed, sign) in [(1, 1.0), (2, 1.0), (3, -1.0)] {
        let documents = wide(&texts(700, seed), sign);
        let index = index(&documents);
        let others = wide(&texts(40, seed + 100), sign);
        for limit in [1, 7, 60] {
            let of_others = Queries::of_others(limit);
            let own = Queries {
                own_from: Some(0),
                ..of_others
            };
            let strict = Queries {
                skips_copies: true,
                ..own
            };
            for (rows, queries) in [
                (&others, of_others),
                (&documents, own),
                (&documents, strict),
            ] {
                let mut desk = Desk::new(index.num_documents());
                for query in 0..rows.num_rows().min(80) {
                    let asked = Asked {
                        index: &index,
                        row: rows.row(query),
                        query,
                        queries: &queries,
                    };
                    let expected = asked.exhaustive(&mut desk);
                    if let Some(found) = pruned(asked, &mut desk) {
                        assert_eq!(found, expected);
                        num_pruned += 1;
                    }
                }
            }
        }
    }
    assert!(num_pruned > 1000, "{num_pruned}");
}

proptest! {
    #[test]
    fn pruning_changes_no_answer_of_any_corpus(
        documents in entries(), asked in entries(), limit in 1_usize..8
    ) {
        let (documents, rows) = (matrix(&documents), matrix(&asked));
        let index = index(&documents);
        let mut desk = Desk::new(index.num_documents());
        for query in 0..rows.num_rows() {
            let asked = Asked {
                index: &index,
                row: rows.row(query),
                query,
                queries: &Queries::of_others(limit),
            };
            let expected = asked.exhaustive(&mut desk);
            if let Some(found) = pruned(asked, &mut desk) {
                prop_assert_eq!(found, expected);
            }
        }
    }
}
