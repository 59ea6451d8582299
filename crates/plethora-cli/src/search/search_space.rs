//! The settings that a search varies, and what it draws for them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use plethora_core::SeedStream;
use serde_json::Value;

use super::default_ranges::default_ranges;
use super::range::Range;
use crate::failure::UsageError;
use crate::settings::{
    AssignedValue, Assignment, SettingTable, SystemConfig, parse_config, read_config,
};

/// Settings that no search varies, and why.
const FIXED: [(&str, &str); 2] = [
    ("system", "a search is over one system; --system names it"),
    (
        "seed",
        "the best of several seeds is luck; --seed sets it for all trials",
    ),
];

/// The trial that has the settings as they were given, for comparison.
pub(crate) const UNCHANGED: usize = 1;

/// The settings that a search varies, on top of those that it leaves alone.
#[derive(Debug)]
pub(crate) struct SearchSpace {
    base: SystemConfig,
    ranges: BTreeMap<String, Range>,
}

/// Settings by their dotted keys.
pub(crate) type Settings = BTreeMap<String, Value>;

impl SearchSpace {
    /// The ranges of a file and, on top of it, those of `--range`; where there are neither, those of
    /// the system's recipe.
    pub(crate) fn new(
        base: SystemConfig,
        file: Option<&PathBuf>,
        texts: &[String],
    ) -> anyhow::Result<Self> {
        let mut assignments = match file {
            Some(path) => read_config(path)?,
            None if texts.is_empty() => recipe_ranges(base.system())?,
            None => Vec::new(),
        };
        for text in texts {
            assignments.push(Assignment::parse_as(
                text,
                "--range",
                "solver.cost=log:0.1..10",
            )?);
        }
        let table = SettingTable::of_config(base.clone())?;
        let mut ranges = BTreeMap::new();
        for assignment in &assignments {
            let range = range_of(assignment, &table)?;
            check_ends(assignment, &range, &base)?;
            ranges.insert(assignment.key.clone(), range);
        }
        if ranges.is_empty() {
            let origin = file.map_or("--range".into(), |path| path.display().to_string());
            return Err(UsageError::new(format!("{origin}: there is no range to search")).into());
        }
        Ok(Self { base, ranges })
    }

    /// The settings that a search does not vary, and those it does before it has.
    pub(crate) fn base(&self) -> &SystemConfig {
        &self.base
    }

    /// The ranges as users write them.
    pub(crate) fn shown_ranges(&self) -> BTreeMap<String, String> {
        let ranges = self.ranges.iter();
        ranges
            .map(|(key, range)| (key.clone(), range.to_string()))
            .collect()
    }

    /// What a trial, counted from 1, has instead of the base's settings. It depends on the seed, the
    /// number and each range alone, so that a range more changes nothing of the others.
    pub(crate) fn draw(&self, trial: usize) -> Settings {
        if trial == UNCHANGED {
            return Settings::new();
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
    pub(crate) fn config(&self, trial: usize) -> anyhow::Result<SystemConfig> {
        let mut table = SettingTable::of_config(self.base.clone())?;
        for (key, value) in self.draw(trial) {
            table.assign(&Assignment {
                key,
                value: AssignedValue::Typed(value),
                origin: format!("trial {trial}"),
            })?;
        }
        Ok(table.into_config())
    }
}

fn recipe_ranges(system: &str) -> Result<Vec<Assignment>, UsageError> {
    let text = default_ranges(system).ok_or_else(|| {
        UsageError::new(format!(
            "{system} has no ranges of its own; --range or --ranges says what to search"
        ))
    })?;
    parse_config(Path::new(&format!("ranges of {system}")), text)
}

fn range_of(assignment: &Assignment, table: &SettingTable) -> Result<Range, UsageError> {
    let Assignment { key, value, origin } = assignment;
    let refuse = |message: String| UsageError::new(format!("{origin}: {message}"));
    if let Some((_, reason)) = FIXED.iter().find(|(fixed, _)| fixed == key) {
        return Err(refuse(format!("{key}: {reason}")));
    }
    let kind = table.kind_of(key).map_err(refuse)?;
    match value {
        AssignedValue::Text(text) => Range::parse(text, kind),
        AssignedValue::Typed(value) => Range::of_value(value, kind),
        AssignedValue::EmptyGroup => Err("expected a range, found a group".into()),
    }
    .map_err(|message| refuse(format!("{key}: {message}")))
}

/// Refuses what no trial could be trained with.
fn check_ends(assignment: &Assignment, range: &Range, base: &SystemConfig) -> anyhow::Result<()> {
    for value in range.ends() {
        let mut table = SettingTable::of_config(base.clone())?;
        table.assign(&Assignment {
            value: AssignedValue::Typed(value),
            ..assignment.clone()
        })?;
        let checked = table.into_config().validate();
        checked.map_err(|error| UsageError::new(format!("{}: {error}", assignment.origin)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{SettingsArgs, recipes};

    fn base(system: &str) -> SystemConfig {
        let args = SettingsArgs {
            system: Some(system.into()),
            ..SettingsArgs::default()
        };
        args.resolve_alone().unwrap()
    }

    fn space(ranges: &[&str]) -> Result<SearchSpace, String> {
        let texts: Vec<String> = ranges.iter().map(ToString::to_string).collect();
        SearchSpace::new(base("parabel"), None, &texts).map_err(|error| error.to_string())
    }

    #[test]
    fn every_recipe_has_ranges_of_settings_that_its_system_has() {
        for (system, _) in recipes() {
            let space = SearchSpace::new(base(system), None, &[]).unwrap();
            assert!(space.ranges.len() >= 3, "{system}");
            for trial in 1..=50 {
                space.config(trial).unwrap().validate().unwrap();
            }
            let ranges: Vec<String> = (space.shown_ranges().iter())
                .map(|(key, range)| format!("{key}={range}"))
                .collect();
            let typed = SearchSpace::new(base(system), None, &ranges).unwrap();
            assert_eq!(typed.ranges, space.ranges, "{system}");
        }
    }

    #[test]
    fn trials_depend_on_seed_and_number_alone() {
        let both = space(&["solver.cost=log:0.1..10", "num_trees=1..5"]).unwrap();
        let one = space(&["solver.cost=log:0.1..10"]).unwrap();
        assert!(both.draw(UNCHANGED).is_empty());
        assert_eq!(both.config(UNCHANGED).unwrap(), *both.base());
        for trial in 2..20 {
            let drawn = both.draw(trial);
            assert_eq!(drawn, both.draw(trial));
            assert_eq!(drawn["solver.cost"], one.draw(trial)["solver.cost"]);
            assert_ne!(drawn, both.draw(trial + 1));
        }
        let args = SettingsArgs {
            system: Some("parabel".into()),
            seed: Some(9),
            ..SettingsArgs::default()
        };
        let other = args.resolve_alone().unwrap();
        let texts = ["solver.cost=log:0.1..10".to_owned()];
        let other = SearchSpace::new(other, None, &texts).unwrap();
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
                "--range: solver.cost: must be a number above 0",
            ),
            ("num_trees=0,1", "--range: num_trees: must be at least 1"),
            (
                "tree.shape=balanced,round",
                "--range: tree.shape: unknown variant `round`",
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
