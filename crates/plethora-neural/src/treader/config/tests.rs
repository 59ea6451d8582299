use super::*;

/// Makes settings impossible.
type Breaks = fn(&mut TReaderConfig);

#[test]
fn settings_that_cannot_work_are_refused_by_name() {
    let recipe = TReaderConfig::of_system("treaderxml").unwrap();
    recipe.validate().unwrap();
    let broken: [(&str, Breaks); 17] = [
        ("neighbours.limit", |config| config.neighbours.limit = 0),
        ("neighbours.power", |config| {
            config.neighbours.power = f32::NAN.into();
        }),
        ("neighbours.text.min_df", |config| {
            config.neighbours.text.min_df = 0;
        }),
        ("teacher.max_labels", |config| config.teacher.max_labels = 0),
        ("teacher.label_text", |config| {
            config.teacher.label_text = false;
            config.teacher.label_vectors = false;
        }),
        ("teacher.used", |config| {
            config.teacher.read = false;
            config.teacher.mixed = false;
        }),
        ("teacher.prior", |config| {
            config.teacher.read = false;
            config.teacher.prior = true;
        }),
        ("teacher.own_scores", |config| {
            config.teacher.read = false;
            config.teacher.own_scores = true;
        }),
        ("teacher.own_scores", |config| {
            config.teacher.read = true;
            config.teacher.own_scores = true;
            config.teacher.tokens = TeacherTokens::Positions;
        }),
        ("reading.heads", |config| config.reading.heads = 7),
        ("reading.second", |config| config.reading.first = Look::None),
        ("head.output", |config| {
            config.head.output = OutputKind::Softmax;
            config.head.form = TReaderForm::Exact;
        }),
        ("head.start", |config| {
            config.head.start = LabelStart::Random;
            config.head.form = TReaderForm::Exact;
        }),
        ("decay.factor", |config| config.decay.factor = 1.0),
        ("decay.rounds", |config| config.decay.rounds = 101),
        ("decay.rounds", |config| {
            config.decay.rounds = 1;
            config.train.patience = 0;
        }),
        ("words.max_length", |config| config.words.max_length = 0),
    ];
    for (key, break_it) in broken {
        let mut config = recipe.clone();
        break_it(&mut config);
        let message = config.validate().unwrap_err().to_string();
        assert!(message.starts_with(key), "{message}");
    }
}
