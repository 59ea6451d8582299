//! What comes out of options that contradict, complete or misspell one another.

mod any_program {
    use plethora_system::settings::Settings;
    use serde_json::{Value, json};

    use super::super::SettingsArgs;

    fn resolve(args: &SettingsArgs) -> Result<Settings, String> {
        args.finish(Vec::new()).map_err(|error| error.to_string())
    }

    fn values(settings: &Settings, keys: &[&str]) -> Vec<Value> {
        let value = |key: &&str| settings.get(key).cloned().unwrap_or_default();
        keys.iter().map(value).collect()
    }

    fn set(assignments: &[&str]) -> SettingsArgs {
        SettingsArgs {
            set: assignments.iter().map(ToString::to_string).collect(),
            ..SettingsArgs::default()
        }
    }

    #[test]
    fn flags_win_over_assignments_and_these_over_the_recipe() {
        let config = resolve(&SettingsArgs {
            seed: Some(9),
            ..set(&["seed=7", "tree.max_leaf=12", "system=parabel"])
        })
        .unwrap();
        let found = values(&config, &["seed", "tree.max_leaf", "system", "num_trees"]);
        assert_eq!(found, [json!(9), json!(12), json!("parabel"), json!(3)]);
        assert_eq!(
            resolve(&SettingsArgs::default()).unwrap().system(),
            "wide-tree"
        );
    }

    #[test]
    fn unknown_keys_are_refused_with_the_nearest_known_one() {
        for (assignment, expected) in [
            (
                "tree.max_leaff=3",
                "--set: unknown setting `tree.max_leaff`; did you mean `tree.max_leaf`?",
            ),
            ("max_leaf=3", "did you mean `tree.max_leaf`?"),
            ("seeed=3", "did you mean `seed`?"),
            ("tree=3", "`tree` is a group of settings"),
            ("seed", "expected KEY=VALUE"),
            ("system=parable", "did you mean `parabel`?"),
        ] {
            let message = resolve(&set(&[assignment])).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn wrong_types_say_what_was_expected() {
        for (assignment, expected) in [
            (
                "seed=many",
                "seed: expected a whole number from 0, found `many`",
            ),
            ("seed=-1", "expected a whole number from 0, found `-1`"),
            (
                "solver.cost=high",
                "solver.cost: expected a number, found `high`",
            ),
            ("text.sublinear=1", "expected true or false, found `1`"),
            (
                "tree.shape=round",
                "tree.shape: expected one of balanced, kmeans, hierarchy, found `round`",
            ),
            ("num_trees=0", "num_trees: must be from 1 to 1000"),
        ] {
            let message = resolve(&set(&[assignment])).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn options_that_a_system_has_no_setting_for_are_refused() {
        let args = SettingsArgs {
            vectors: Some("glove.txt".into()),
            ..SettingsArgs::default()
        };
        let message = resolve(&args).unwrap_err();
        assert_eq!(message, "--vectors: wide-tree has no such setting");
        let args = SettingsArgs {
            preset: vec!["demo".into()],
            ..SettingsArgs::default()
        };
        let message = resolve(&args).unwrap_err();
        assert_eq!(message, "--preset: wide-tree has no presets");
    }

    #[test]
    fn values_take_the_type_of_their_setting() {
        let config = resolve(&set(&[
            "solver.cost=2",
            "text.max_features=500",
            "text.sublinear=false",
            "tree.shape=\"kmeans\"",
        ]))
        .unwrap();
        let keys = [
            "solver.cost",
            "text.max_features",
            "text.sublinear",
            "tree.shape",
        ];
        let expected = [json!(2.0), json!(500), json!(false), json!("kmeans")];
        assert_eq!(values(&config, &keys), expected);
    }

    #[test]
    fn every_recipe_and_preset_is_valid_and_every_setting_is_known() {
        for spec in crate::registry().systems() {
            let args = SettingsArgs {
                system: Some(spec.name.into()),
                ..SettingsArgs::default()
            };
            let recipe = resolve(&args).unwrap();
            assert_eq!(recipe.get("system"), Some(&json!(spec.name)));
            let text = recipe.to_toml();
            let again: Value = toml::from_str(&text).unwrap();
            assert_eq!(again, serde_json::to_value(&recipe).unwrap(), "{text}");
            for preset in spec.presets {
                let args = SettingsArgs {
                    preset: vec![preset.name.into()],
                    ..args.clone()
                };
                resolve(&args).unwrap();
            }
        }
    }
}
