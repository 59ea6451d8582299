//! Settings of the system `lexical`.

use plethora_core::forest::ForestConfig;
use plethora_core::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::language::Languages;

/// Longer learnt names say nothing new, and take much memory to find.
const MAX_NGRAM: usize = 5;

/// Settings of the system `lexical`. In those of a trained model everything is settled; before,
/// [`OpenLexicalConfig`] may leave the languages to the corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LexicalConfig<Language = Languages> {
    /// Name of the system.
    pub system: String,
    /// Languages whose endings words lose before they are compared.
    pub language: Language,
    /// Words of a text that are looked at, from its beginning.
    pub max_words: usize,
    /// Labels that the ranker looks at, of those found in a text.
    pub max_candidates: usize,
    /// Which phrases are learnt as further names.
    pub learnt: LearntConfig,
    /// What ranks the labels that were found.
    pub ranker: RankerConfig,
}

/// Settings that may leave the languages to the corpus.
pub type OpenLexicalConfig = LexicalConfig<String>;

/// Leaves the languages to the corpus.
const AUTO: &str = "auto";

/// Which phrases are learnt as further names of labels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LearntConfig {
    /// Words of the longest phrase.
    pub max_ngram: usize,
    /// Training documents that have both phrase and label, at least.
    pub min_documents: u32,
    /// Share of the documents with the phrase that have the label, at least.
    pub min_strength: f32,
    /// Documents without the label that are added to those with the phrase: shares of few documents
    /// count for less.
    pub shrinkage: f32,
}

/// What ranks labels: a forest of small trees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RankerConfig {
    /// Training documents that it learns from, at most.
    pub max_documents: usize,
    /// Trees.
    pub num_trees: usize,
    /// Leaves of a tree.
    pub num_leaves: usize,
    /// How much of a tree's correction counts.
    pub learning_rate: f32,
    /// Found labels in a leaf, at least.
    pub min_rows: usize,
    /// Ridge of a leaf's value.
    pub ridge: f32,
}

impl LearntConfig {
    /// The share of documents with a phrase that have a label, shrunken.
    pub(super) fn strength(&self, count: u32, documents: u32) -> f32 {
        count as f32 / (documents as f32 + self.shrinkage)
    }

    /// True for a phrase that so many documents have, and so many of them a label, where it is taken
    /// for a name of the label.
    pub(super) fn is_learnt(&self, count: u32, documents: u32) -> bool {
        count >= self.min_documents && self.strength(count, documents) >= self.min_strength
    }

    fn validate(&self) -> Result<()> {
        if !(1..=MAX_NGRAM).contains(&self.max_ngram) {
            let message = format!("must be from 1 to {MAX_NGRAM}");
            return Err(Error::config("max_ngram", message));
        }
        at_least_one(self.min_documents as usize, "min_documents")?;
        for (value, key) in [
            (self.min_strength, "min_strength"),
            (self.shrinkage, "shrinkage"),
        ] {
            from_zero(value, key)?;
        }
        Ok(())
    }
}

impl RankerConfig {
    /// How the forest is grown.
    pub(super) fn forest(&self) -> ForestConfig {
        ForestConfig {
            num_trees: self.num_trees,
            num_leaves: self.num_leaves,
            learning_rate: self.learning_rate,
            min_rows: self.min_rows,
            ridge: self.ridge,
        }
    }

    fn validate(&self) -> Result<()> {
        at_least_one(self.max_documents, "max_documents")?;
        self.forest().validate()
    }
}

fn at_least_one(value: usize, key: &'static str) -> Result<()> {
    match value {
        0 => Err(Error::config(key, "must be at least 1")),
        _ => Ok(()),
    }
}

fn from_zero(value: f32, key: &'static str) -> Result<()> {
    if value >= 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(Error::config(key, "must be a number from 0"))
    }
}

impl<Language> LexicalConfig<Language> {
    /// Refuses settings that cannot work, naming the key.
    pub fn validate(&self) -> Result<()> {
        at_least_one(self.max_words, "max_words")?;
        at_least_one(self.max_candidates, "max_candidates")?;
        (self.learnt.validate()).map_err(|error| error.within("learnt"))?;
        (self.ranker.validate()).map_err(|error| error.within("ranker"))
    }
}

impl OpenLexicalConfig {
    /// With these languages, unless the settings have some.
    ///
    /// # Errors
    /// [`Error::Config`] if the settings name a language that nobody knows.
    pub fn settled(&self, languages: impl FnOnce() -> Languages) -> Result<LexicalConfig> {
        let language = match self.language.as_str() {
            AUTO => languages(),
            named => {
                let parsed = named.parse();
                parsed.map_err(|message: String| Error::config("language", message))?
            }
        };
        Ok(LexicalConfig {
            system: self.system.clone(),
            language,
            max_words: self.max_words,
            max_candidates: self.max_candidates,
            learnt: self.learnt,
            ranker: self.ranker,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::family::recipe;

    #[test]
    fn impossible_values_are_refused_by_name() {
        let recipe = recipe();
        recipe.validate().unwrap();
        let mut broken = vec![recipe.clone(); 6];
        broken[0].max_words = 0;
        broken[1].max_candidates = 0;
        broken[2].learnt.max_ngram = 0;
        broken[3].learnt.shrinkage = f32::NAN;
        broken[4].ranker.num_leaves = 1;
        broken[5].ranker.ridge = -1.0;
        let keys = [
            "max_words",
            "max_candidates",
            "learnt.max_ngram",
            "learnt.shrinkage",
            "ranker.num_leaves",
            "ranker.ridge",
        ];
        for (config, key) in broken.iter().zip(keys) {
            let message = config.validate().unwrap_err().to_string();
            assert!(message.starts_with(key), "{message}");
        }
    }
}
