//! The settings that a search varies, and what it draws for them.

use std::collections::BTreeMap;
use std::path::Path;

use plethora_core::{Error, Result, SeedStream};
use plethora_system::settings::{AssignedValue, Assignment, Settings, parse_config};
use serde_json::Value;

use super::range::Range;

/// Settings that no search varies, and why.
const FIXED: [(&str, &str); 2] = [
    ("system", "a search is over one system"),
    (
        "seed",
        "the best of several seeds is luck; all trials have the same",
    ),
];

/// The trial that has the settings as they were given, for comparison.
pub(super) const UNCHANGED: usize = 1;

/// The settings that a search varies, on top of those that it leaves alone.
#[derive(Debug)]
pub struct SearchSpace {
    base: Settings,
    ranges: BTreeMap<String, Range>,
}

/// Settings by their dotted keys.
pub(super) type Drawn = BTreeMap<String, Value>;

impl SearchSpace {
    /// A space with these ranges; where there are none, those of the system's recipe.
    pub fn new(base: Settings, asked_for: Vec<Assignment>) -> Result<Self> {
        let assignments = match asked_for.as_slice() {
            [] => recipe_ranges(&base)?,
            _ => asked_for,
        };
        let mut ranges = BTreeMap::new();
        for assignment in &assignments {
            let range = range_of(assignment, &base)?;
            check_ends(assignment, &range, &base)?;
            ranges.insert(assignment.key.clone(), range);
        }
        Ok(Self { base, ranges })
    }

    /// All settings, before the search varies any.
    pub fn base(&self) -> &Settings {
        &self.base
    }

    /// The ranges as users write them.
    pub fn shown_ranges(&self) -> BTreeMap<String, String> {
        let ranges = self.ranges.iter();
        ranges
            .map(|(key, range)| (key.clone(), range.to_string()))
            .collect()
    }

    /// What a trial, counted from 1, has instead of the base's settings. It depends on the seed, the
    /// number and each range alone, so that adding a range does not change the others.
    pub fn draw(&self, trial: usize) -> Drawn {
        if trial == UNCHANGED {
            return Drawn::new();
        }
        let stream = SeedStream::new(self.base.seed())
            .named("search")
            .child(trial as u64);
        let ranges = self.ranges.iter();
        ranges
            .map(|(key, range)| (key.clone(), range.draw(stream.named(key))))
            .collect()
    }

    /// All settings of a trial. They fit one by one, but perhaps not together.
    pub fn settings(&self, trial: usize) -> Result<Settings> {
        let mut settings = self.base.clone();
        for (key, value) in self.draw(trial) {
            settings.assign(&Assignment {
                key,
                value: AssignedValue::Typed(value),
                origin: format!("trial {trial}"),
            })?;
        }
        Ok(settings)
    }
}

/// Reads a setting and its range, as `solver.cost=log:0.1..10`.
pub fn parse_range(text: &str, origin: &str) -> Result<Assignment> {
    Assignment::parse_as(text, origin, "solver.cost=log:0.1..10")
}

fn recipe_ranges(base: &Settings) -> Result<Vec<Assignment>> {
    let (system, text) = (base.system(), base.spec().ranges);
    if text.is_empty() {
        return Err(Error::usage(format!(
            "{system} has no ranges of its own; name some to search"
        )));
    }
    parse_config(Path::new(&format!("ranges of {system}")), text)
}

fn range_of(assignment: &Assignment, settings: &Settings) -> Result<Range> {
    let Assignment { key, value, origin } = assignment;
    let refuse = |message: String| Error::usage(format!("{origin}: {message}"));
    if let Some((_, reason)) = FIXED.iter().find(|(fixed, _)| fixed == key) {
        return Err(refuse(format!("{key}: {reason}")));
    }
    let kind = settings.kind_of(key).map_err(refuse)?;
    match value {
        AssignedValue::Text(text) => Range::parse(text, kind),
        AssignedValue::Typed(value) => Range::of_value(value, kind),
        AssignedValue::EmptyGroup => Err("expected a range, found a group".into()),
    }
    .map_err(|message| refuse(format!("{key}: {message}")))
}

/// Refuses what no trial could be trained with.
fn check_ends(assignment: &Assignment, range: &Range, base: &Settings) -> Result<()> {
    for value in range.ends() {
        let mut settings = base.clone();
        settings.assign(&Assignment {
            value: AssignedValue::Typed(value),
            ..assignment.clone()
        })?;
        let checked = settings.config();
        checked.map_err(|error| Error::usage(format!("{}: {error}", assignment.origin)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use plethora_system::Registry;

    fn registry() -> Registry {
        Registry::new(plethora_linear::FAMILIES)
    }

    fn base(system: &str) -> Settings {
        registry().recipe(system).unwrap()
    }

    fn space(ranges: &[&str]) -> Result<SearchSpace, String> {
        let parsed = ranges.iter().map(|text| parse_range(text, "--range"));
        let parsed = parsed.collect::<Result<Vec<_>>>();
        let space = parsed.and_then(|ranges| SearchSpace::new(base("parabel"), ranges));
        space.map_err(|error| error.to_string())
    }

    #[test]
    fn every_recipe_has_ranges_of_settings_that_its_system_has() {
        for system in registry().systems().map(|spec| spec.name) {
            let space = SearchSpace::new(base(system), Vec::new()).unwrap();
            assert!(space.ranges.len() >= 3, "{system}");
            for trial in 1..=50 {
                space.settings(trial).unwrap().config().unwrap();
            }
            let ranges: Vec<String> = (space.shown_ranges().iter())
                .map(|(key, range)| format!("{key}={range}"))
                .collect();
            let ranges = ranges
                .iter()
                .map(|text| parse_range(text, "--range").unwrap());
            let typed = SearchSpace::new(base(system), ranges.collect()).unwrap();
            assert_eq!(typed.ranges, space.ranges, "{system}");
        }
    }

    #[test]
    fn trials_depend_on_seed_and_number_alone() {
        let both = space(&["solver.cost=log:0.1..10", "num_trees=1..5"]).unwrap();
        let one = space(&["solver.cost=log:0.1..10"]).unwrap();
        assert!(both.draw(UNCHANGED).is_empty());
        assert_eq!(both.settings(UNCHANGED).unwrap(), *both.base());
        for trial in 2..20 {
            let drawn = both.draw(trial);
            assert_eq!(drawn, both.draw(trial));
            assert_eq!(drawn["solver.cost"], one.draw(trial)["solver.cost"]);
            assert_ne!(drawn, both.draw(trial + 1));
        }
        let mut other = base("parabel");
        let seed = Assignment::parse("seed=9", "test").unwrap();
        other.assign(&seed).unwrap();
        let cost = parse_range("solver.cost=log:0.1..10", "--range").unwrap();
        let other = SearchSpace::new(other, vec![cost]).unwrap();
        assert_ne!(other.draw(2), one.draw(2));
    }

    #[test]
    fn choices_of_trials_are_equally_likely() {
        let space = space(&["num_trees=1,3,5", "beam=1,2"]).unwrap();
        let counts = [1, 3, 5].map(|choice| {
            let is_drawn = |trial: &usize| space.draw(*trial)["num_trees"] == choice;
            (2..3002).filter(is_drawn).count()
        });
        assert!(
            counts.iter().all(|count| count.abs_diff(1000) < 90),
            "{counts:?}"
        );
    }

    #[test]
    fn ranges_of_wrong_settings_and_values_are_refused() {
        for (range, expected) in [
            (
                "solver.cots=1,2",
                "--range: unknown setting `solver.cots`; did you mean `solver.cost`?",
            ),
            ("cost=1,2", "did you mean `solver.cost`?"),
            ("solver=1,2", "--range: `solver` is a group of settings"),
            (
                "solver.cost",
                "--range: `solver.cost`: expected KEY=VALUE, as solver.cost=log:0.1..10",
            ),
            (
                "solver.cost=0..2",
                "--range: solver.cost: must be a number above 0, found 0",
            ),
            (
                "num_trees=0,1",
                "--range: num_trees: must be from 1 to 1000, found 0",
            ),
            (
                "tree.shape=balanced,round",
                "--range: tree.shape: expected one of balanced, kmeans, hierarchy, found `round`",
            ),
            (
                "seed=1,2",
                "--range: seed: the best of several seeds is luck",
            ),
            (
                "system=parabel,bonsai",
                "--range: system: a search is over one system",
            ),
            (
                "beam=20..10",
                "--range: beam: `20..10`: expected the smaller number first",
            ),
        ] {
            let message = space(&[range]).unwrap_err();
            assert!(
                message.starts_with(expected) || message.contains(expected),
                "{message}"
            );
        }
    }
}
