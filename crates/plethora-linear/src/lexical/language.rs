//! Languages: how words of them are stemmed, and which ones a corpus is in.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use rust_stemmers::{Algorithm, Stemmer};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Stands for no language at all: words are compared as they are.
const NONE: &str = "none";

/// A corpus is in a language if this share of its stop words is.
const MIN_SHARE: f64 = 0.1;

/// More languages at once would stem words beyond recognition.
const MAX_LANGUAGES: usize = 3;

/// Fewer stop words say nothing.
const MIN_STOP_WORDS: u64 = 5;

struct Language {
    name: &'static str,
    algorithm: Algorithm,
    /// Frequent words; those that two languages share are not counted.
    stop_words: &'static str,
}

static LANGUAGES: [Language; 15] = [
    Language {
        name: "danish",
        algorithm: Algorithm::Danish,
        stop_words: "og at det på som af til har ikke jeg blev efter være også hvor eller mellem",
    },
    Language {
        name: "dutch",
        algorithm: Algorithm::Dutch,
        stop_words: "het een van voor niet zijn dat met aan ook wordt naar bij deze uit worden",
    },
    Language {
        name: "english",
        algorithm: Algorithm::English,
        stop_words: "the of and to is that for with this are from by which be it have their has",
    },
    Language {
        name: "finnish",
        algorithm: Algorithm::Finnish,
        stop_words: "ja on ei että se oli mutta ovat sekä mukaan kuin tai joka hän myös voi",
    },
    Language {
        name: "french",
        algorithm: Algorithm::French,
        stop_words: "les des une est dans pour que qui par sur avec aux cette sont ont plus et",
    },
    Language {
        name: "german",
        algorithm: Algorithm::German,
        stop_words: "der die und das den von mit ist für auf dem ein eine im zu werden sich auch",
    },
    Language {
        name: "hungarian",
        algorithm: Algorithm::Hungarian,
        stop_words: "az és hogy nem egy ez volt csak meg még vagy mint amely között által szerint",
    },
    Language {
        name: "italian",
        algorithm: Algorithm::Italian,
        stop_words: "il che della di gli delle nel sono con una dei alla è anche come più dell",
    },
    Language {
        name: "norwegian",
        algorithm: Algorithm::Norwegian,
        stop_words: "og at det på som av til har ikke jeg ble etter være også hvor eller mellom",
    },
    Language {
        name: "portuguese",
        algorithm: Algorithm::Portuguese,
        stop_words: "os uma não com para dos mais pela são como das ao também pelo foi em sua",
    },
    Language {
        name: "romanian",
        algorithm: Algorithm::Romanian,
        stop_words: "și în este cu pentru care mai din sau prin fost sunt această între după lor",
    },
    Language {
        name: "russian",
        algorithm: Algorithm::Russian,
        stop_words: "и в не на что с по как к из у за от для это его при или также был",
    },
    Language {
        name: "spanish",
        algorithm: Algorithm::Spanish,
        stop_words: "los las una del por con para es más como pero sus este entre cuando y el",
    },
    Language {
        name: "swedish",
        algorithm: Algorithm::Swedish,
        stop_words: "och att det på som är av för till har inte jag efter vara också eller mellan",
    },
    Language {
        name: "turkish",
        algorithm: Algorithm::Turkish,
        stop_words: "ve bir bu için ile olarak olan daha gibi kadar sonra ancak veya göre her",
    },
];

/// Languages whose endings words lose, one after the other: so a name matches its forms in all of
/// them, whichever a text is in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Languages(Vec<&'static str>);

impl Languages {
    /// The languages of a corpus, by its stop words; `words` are its words with how often they occur.
    pub fn of_words<'a>(words: impl Iterator<Item = (&'a str, u64)>) -> Self {
        let mut owners: rustc_hash::FxHashMap<&str, Option<usize>> =
            rustc_hash::FxHashMap::default();
        for (index, language) in LANGUAGES.iter().enumerate() {
            for word in language.stop_words.split(' ') {
                let owner = owners.entry(word).or_insert(Some(index));
                if *owner != Some(index) {
                    *owner = None;
                }
            }
        }
        let mut counts = [0_u64; LANGUAGES.len()];
        for (word, count) in words {
            if let Some(Some(language)) = owners.get(word) {
                counts[*language] += count;
            }
        }
        let total: u64 = counts.iter().sum();
        let mut found: Vec<usize> = (0..LANGUAGES.len())
            .filter(|&index| {
                let count = counts[index];
                count >= MIN_STOP_WORDS && count as f64 >= MIN_SHARE * total as f64
            })
            .collect();
        found.sort_by_key(|&index| std::cmp::Reverse(counts[index]));
        found.truncate(MAX_LANGUAGES);
        Self(found.iter().map(|&index| LANGUAGES[index].name).collect())
    }

    /// What takes the endings of words away.
    pub fn stemmer(&self) -> Endings {
        let known = LANGUAGES.iter();
        let algorithm = |name: &&str| known.clone().find(|language| language.name == *name);
        Endings(
            (self.0.iter().filter_map(algorithm))
                .map(|language| Stemmer::create(language.algorithm))
                .collect(),
        )
    }
}

/// Takes the endings of words away.
pub struct Endings(Vec<Stemmer>);

impl Endings {
    /// What remains of a lower-case word.
    pub fn stem<'a>(&self, word: &'a str) -> Cow<'a, str> {
        self.0.iter().fold(Cow::Borrowed(word), |word, stemmer| {
            let stem = stemmer.stem(&word);
            Cow::Owned(stem.into_owned())
        })
    }
}

impl fmt::Debug for Endings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Endings({})", self.0.len())
    }
}

impl fmt::Display for Languages {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            formatter.write_str(NONE)
        } else {
            formatter.write_str(&self.0.join(" "))
        }
    }
}

impl FromStr for Languages {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == NONE {
            return Ok(Self::default());
        }
        let find = |name: &str| {
            let known = LANGUAGES.iter().map(|language| language.name);
            (known.clone().find(|known| *known == name)).ok_or_else(|| {
                let known: Vec<&str> = known.collect();
                format!(
                    "{name:?} is unknown; use auto, {NONE}, or one or more of {}",
                    known.join(", ")
                )
            })
        };
        let separators = [' ', ',', '+'];
        let names = text.split(separators).filter(|name| !name.is_empty());
        let found: Vec<&'static str> = names.map(find).collect::<Result<_, _>>()?;
        if found.is_empty() || found.len() > MAX_LANGUAGES {
            return Err(format!("names 1 to {MAX_LANGUAGES} languages, or {NONE}"));
        }
        Ok(Self(found))
    }
}

impl Serialize for Languages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Languages {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Languages {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Languages".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_text(text: &str) -> String {
        Languages::of_words(text.split(' ').map(|word| (word, 1))).to_string()
    }

    #[test]
    fn stop_words_tell_languages() {
        let english = "the wing of the plane and that of a bird is for those that fly";
        let german = "der flügel und das ruder von dem schiff mit der last auf dem meer";
        assert_eq!(of_text(english), "english");
        assert_eq!(of_text(german), "german");
        assert_eq!(
            of_text(&format!("{german} {german} {english}")),
            "german english"
        );
        assert_eq!(of_text("photosynthesis"), "none");
    }

    #[test]
    fn forms_of_a_word_have_one_stem_in_every_language() {
        let both: Languages = "german english".parse().unwrap();
        let endings = both.stemmer();
        for (left, right) in [
            ("roboter", "robotern"),
            ("häuser", "häusern"),
            ("university", "universities"),
            ("learning", "learned"),
        ] {
            assert_eq!(endings.stem(left), endings.stem(right));
        }
        let none = Languages::default().stemmer();
        assert_eq!(none.stem("learning"), "learning");
    }

    #[test]
    fn names_of_languages_come_back() {
        for text in ["none", "german", "german english"] {
            assert_eq!(text.parse::<Languages>().unwrap().to_string(), text);
        }
        for text in ["", "klingon", "auto", "german english french dutch"] {
            assert!(text.parse::<Languages>().is_err(), "{text}");
        }
    }
}
