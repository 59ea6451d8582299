//! The best labels, without a look at those that cannot be among them.

use super::*;

#[test]
fn rankings_equal_those_of_all_probabilities_whatever_the_run() {
    for (chunk, keep) in [(0, 1), (1, 4), (2, 5), (0, 6), (3, 13), (0, 50)] {
        for projection in [Projection::Linear, Projection::Normed] {
            let config = AdaptiveConfig {
                projection,
                ..config()
            };
            let plan = Plan {
                config,
                chunk,
                ..Plan::new()
            };
            let case = plan.case();
            let ranked = case.head.rank(&case.input(), 1, keep);
            let (scores, labels) = case
                .probabilities()
                .topk(keep.min(13) as i64, 1, true, true);
            assert_eq!(ranked.labels, labels, "{keep} by {chunk}");
            assert_close(&ranked.log_scores.exp(), &scores, 1e-5, "scores");
        }
    }
}

#[test]
fn tails_that_cannot_matter_are_not_computed() {
    let case = Plan::new().case();
    let id = case.head.root_bias.unwrap();
    let bias = case.parameters.dense.get(id);
    let put = |place: i64, value: f64| {
        let _ = tch::no_grad(|| bias.shallow_clone().narrow(0, place, 1).fill_(value));
    };
    // The head's labels are certain, its tails are not.
    (0..5).for_each(|place| put(place, 50.0));
    (5..7).for_each(|place| put(place, -50.0));
    let _ = counted::take();
    let ranked = case.head.rank(&case.input(), 1, 5);
    assert_eq!(counted::take(), 0);
    assert_eq!(ranked.labels.size(), [5, 5]);
    // With room for a sixth label the first tail is asked, and the other where it may be better.
    let ranked = case.head.rank(&case.input(), 1, 6);
    let products = counted::take();
    let of_second = products - 5 * 4 * 4;
    assert!((0..5 * 4 * 2).contains(&of_second), "{products}");
    let (_, labels) = case.probabilities().topk(6, 1, true, true);
    assert_eq!(ranked.labels.select(1, 5), labels.select(1, 5));
}
