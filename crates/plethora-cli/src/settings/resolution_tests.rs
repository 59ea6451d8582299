//! What comes out of options that contradict, complete or misspell one another.

mod linear {
    use plethora_linear::LinearConfig;
    use plethora_train::settings::SystemConfig;

    use super::super::SettingsArgs;

    fn resolve(args: &SettingsArgs) -> Result<LinearConfig, String> {
        match args.resolve_alone().map_err(|error| error.to_string())? {
            SystemConfig::Linear(config) => Ok(*config),
            SystemConfig::Knn(_) => panic!("knn is not linear"),
            #[cfg(feature = "torch")]
            SystemConfig::Neural(config) => panic!("{} is not linear", config.system()),
        }
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
        assert_eq!((config.seed, config.tree.max_leaf), (9, 12));
        assert_eq!((config.system.as_str(), config.num_trees), ("parabel", 3));
        assert_eq!(
            resolve(&SettingsArgs::default()).unwrap().system,
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
                "expected one of `balanced`, `kmeans`, `hierarchy`",
            ),
            ("num_trees=0", "num_trees: must be at least 1"),
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
            preset: Some("demo".into()),
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
        assert_eq!(config.solver.cost, 2.0);
        assert_eq!(config.text.max_features, Some(500));
        assert!(!config.text.sublinear);
        assert_eq!(config.tree.shape, plethora_core::tree::TreeShape::Kmeans);
    }
}

#[cfg(feature = "torch")]
mod neural {
    use plethora_neural::{HeadConfig, NeuralConfig, PieceConfig, WordConfig};
    use plethora_train::settings::SystemConfig;

    use super::super::SettingsArgs;

    fn resolve_any(system: &str, args: SettingsArgs) -> Result<NeuralConfig, String> {
        let args = SettingsArgs {
            system: Some(system.into()),
            ..args
        };
        match args.resolve_alone().map_err(|error| error.to_string())? {
            SystemConfig::Neural(config) => Ok(*config),
            _ => panic!("{system} is not neural"),
        }
    }

    fn resolve(system: &str, args: SettingsArgs) -> Result<WordConfig, String> {
        match resolve_any(system, args)? {
            NeuralConfig::Words(config) => Ok(config),
            _ => panic!("{system} has other settings"),
        }
    }

    fn resolve_pieces(args: SettingsArgs) -> Result<PieceConfig, String> {
        match resolve_any("lightxml", args)? {
            NeuralConfig::Pieces(config) => Ok(config),
            _ => panic!("lightxml reads pieces"),
        }
    }

    fn set(assignments: &[&str]) -> SettingsArgs {
        SettingsArgs {
            set: assignments.iter().map(ToString::to_string).collect(),
            ..SettingsArgs::default()
        }
    }

    #[test]
    fn presets_stand_between_the_recipe_and_everything_else() {
        let args = SettingsArgs {
            preset: Some("paper-large".into()),
            ..set(&["train.epochs=3", "head.layers=64,32"])
        };
        let config = resolve("attentionxml", args).unwrap();
        assert_eq!(config.train.batch_size, 200, "the preset's");
        assert_eq!(config.words.max_length, 500, "the recipe's");
        assert_eq!(config.train.epochs, 3);
        let HeadConfig::Attention(head) = config.head else {
            panic!("AttentionXML has attention");
        };
        assert_eq!(head.layers, [64, 32]);
    }

    #[test]
    fn every_preset_is_valid() {
        for (system, name, _) in plethora_neural::PRESETS {
            let args = SettingsArgs {
                preset: Some(name.into()),
                ..SettingsArgs::default()
            };
            resolve_any(system, args).unwrap();
        }
    }

    #[test]
    fn systems_of_pieces_have_settings_of_their_own() {
        let args = SettingsArgs {
            beam: Some(7),
            encoder: Some("all-MiniLM-L6-v2".into()),
            preset: Some("paper-amazon670k".into()),
            ..set(&["head.form=exact", "train.epochs=3"])
        };
        let config = resolve_pieces(args).unwrap();
        assert_eq!(config.clusters.predict_beam, 7);
        assert_eq!(config.clusters.beam, 75, "the preset's");
        assert_eq!(config.encoder.folder, "all-MiniLM-L6-v2");
        assert_eq!(config.head.form, plethora_neural::HeadForm::Exact);
        assert_eq!(config.train.epochs, 3);
        for (assignment, expected) in [
            (
                "head.form=round",
                "expected one of `auto`, `flat`, `clustered`, `exact`",
            ),
            ("words.min_df=3", "unknown setting `words.min_df`"),
            ("encoder.layers=0", "encoder.layers: must be at least 1"),
            (
                "clusters.tree.max_leaf=0",
                "clusters.tree.max_leaf: must be at least 1",
            ),
        ] {
            let message = resolve_pieces(set(&[assignment])).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn options_find_the_setting_of_the_system() {
        let args = || SettingsArgs {
            beam: Some(7),
            vectors: Some("glove.txt".into()),
            ..SettingsArgs::default()
        };
        let config = resolve("attentionxml-plt", args()).unwrap();
        assert_eq!(config.plt.unwrap().beam, 7);
        assert_eq!(config.vectors.file, "glove.txt");
        let message = resolve("attentionxml", args()).unwrap_err();
        assert_eq!(message, "--beam: attentionxml has no such setting");
    }

    #[test]
    fn settings_that_may_be_absent_are_known() {
        let config = resolve("attentionxml-plt", set(&["plt.text.max_features=500"])).unwrap();
        assert_eq!(config.plt.unwrap().text.max_features, Some(500));
    }

    #[test]
    fn mistakes_name_the_setting() {
        for (assignment, expected) in [
            ("epochs=5", "did you mean `train.epochs`?"),
            ("encoder.hiden=5", "did you mean `encoder.hidden`?"),
            (
                "encoder.kind=cnn",
                "encoder.kind: must be \"bilstm\" in attentionxml",
            ),
            (
                "head.layers=wide",
                "head.layers: expected whole numbers, as 512,256, found `wide`",
            ),
            (
                "train.clip=hard",
                "expected one of `none`, `fixed`, `adaptive`",
            ),
            ("train.epochs=0", "train.epochs: must be from 1 to 1000000"),
            ("plt.beam=5", "unknown setting `plt.beam`"),
        ] {
            let message = resolve("attentionxml", set(&[assignment])).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
        assert!(resolve("attentionxml", set(&["encoder.kind=bilstm"])).is_ok());
    }
}
