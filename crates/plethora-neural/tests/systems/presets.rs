//! The ways of papers to train, on a small corpus.

use std::path::Path;

use plethora_system::Registry;
use plethora_system::settings::parse_config;

use super::*;

/// Sizes that a test has time for; everything else stays as the preset has it.
fn cut(settings: &OpenWordConfig) -> WordConfig {
    let mut config = settings.settled(300);
    config.words.max_length = 60;
    config.vectors.width = 16;
    config.vectors.skip_gram.width = 16;
    let mut table = toml::Value::try_from(&config).unwrap();
    let mut set = |path: &[&str], value: toml::Value| {
        let group = path[..path.len() - 1]
            .iter()
            .try_fold(&mut table, |place, key| place.get_mut(key));
        if let Some(place) = group.and_then(|group| group.get_mut(path[path.len() - 1])) {
            *place = value;
        }
    };
    set(&["encoder", "hidden"], 8.into());
    set(&["encoder", "filters"], 8.into());
    set(&["head", "layers"], vec![16, 8].into());
    set(&["train", "epochs"], 2.into());
    set(&["plt", "lower_epochs"], 1.into());
    let widths = config
        .plt
        .iter()
        .flat_map(|plt| plt.levels.widths.iter().flatten());
    let widths: Vec<i64> = (2..).map(|depth| 1 << depth).take(widths.count()).collect();
    set(&["plt", "levels", "widths"], widths.into());
    let config: WordConfig = table.try_into().unwrap();
    config.validate().unwrap();
    config
}

/// Its presets have tests of their own.
const HAS_CLUSTERS: &str = "lightattention";

#[test]
fn every_paper_preset_trains_and_ranks() {
    let registry = Registry::new([&WORDS as &dyn plethora_system::Family]);
    let mut num_presets = 0;
    for spec in registry.systems().filter(|spec| spec.name != HAS_CLUSTERS) {
        for preset in spec
            .presets
            .iter()
            .filter(|one| one.name.starts_with("paper-"))
        {
            let mut settings = registry.recipe(spec.name).unwrap();
            for assignment in parse_config(Path::new(preset.name), preset.text).unwrap() {
                settings.assign(&assignment).unwrap();
            }
            let config = cut(&settings.read_as().unwrap());
            let set = set(&config);
            let (model, _) = train(&set, &config, &TempDir::new().unwrap());
            for ranking in model.rank_texts(&texts(), OPTIONS).unwrap() {
                let place = (spec.name, preset.name);
                assert_eq!(ranking.len(), 5, "{place:?}");
                assert!(ranking.iter().all(|one| one.score.is_finite()), "{place:?}");
            }
            num_presets += 1;
        }
    }
    assert_eq!(num_presets, 11);
}
