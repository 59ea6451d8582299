//! SKOS vocabularies in Turtle (and its subset N-Triples) and RDF/XML.

use hashbrown::HashMap;
use oxrdf::vocab::rdf;
use oxrdf::{NamedOrBlankNode, Term, Triple};
use oxrdfxml::{RdfXmlParseError, RdfXmlParser};
use oxttl::{TurtleParseError, TurtleParser};
use rustc_hash::FxBuildHasher;

use super::super::source::{Origin, Source};
use super::PlacedLabel;
use super::entities::ShortEntities;
use super::languages::{Name, NameLanguages, Names};
use crate::Result;

const SKOS: &str = "http://www.w3.org/2004/02/skos/core#";

/// True for a text that starts as Turtle does.
pub(super) fn is_turtle(text: &str) -> bool {
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let first = lines.next().unwrap_or_default();
    let starts_with = |word: &str| {
        first
            .get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    let is_directive = ["@prefix ", "@base ", "prefix ", "base "]
        .into_iter()
        .any(starts_with)
        && first.contains('<');
    let is_triple = first.starts_with('<') && first.contains("> <") && first.ends_with('.');
    is_directive || is_triple
}

/// Reads Turtle.
pub(super) fn read_turtle(source: Source, languages: &NameLanguages) -> Result<Vec<PlacedLabel>> {
    let (reader, origin) = source.into_reader();
    let mut concepts = Concepts::default();
    for triple in TurtleParser::new().for_reader(reader) {
        match triple {
            Ok(triple) => concepts.add(triple),
            Err(TurtleParseError::Io(error)) => return Err(origin.read_error(error, None)),
            Err(TurtleParseError::Syntax(error)) => {
                let line = error.location().start.line + 1;
                return Err(origin.error(line, format!("not valid Turtle: {}", error.message())));
            }
        }
    }
    concepts.finish(languages, &origin)
}

/// Reads RDF/XML.
pub(super) fn read_rdf_xml(source: Source, languages: &NameLanguages) -> Result<Vec<PlacedLabel>> {
    let (reader, origin) = source.into_reader();
    let mut concepts = Concepts::default();
    for triple in RdfXmlParser::new().for_reader(ShortEntities::new(reader)) {
        match triple {
            Ok(triple) => concepts.add(triple),
            Err(RdfXmlParseError::Io(error)) => return Err(origin.read_error(error, None)),
            Err(RdfXmlParseError::Syntax(error)) => {
                return Err(origin.error(None, format!("not valid RDF/XML: {error}")));
            }
        }
    }
    concepts.finish(languages, &origin)
}

/// What triples say of one resource.
#[derive(Debug, Default)]
struct Concept {
    iri: String,
    names: Names,
    parents: Vec<String>,
    is_declared: bool,
}

/// Collects concepts in the order they are met.
#[derive(Debug, Default)]
struct Concepts {
    concepts: Vec<Concept>,
    indices: HashMap<String, usize, FxBuildHasher>,
}

impl Concepts {
    fn add(&mut self, triple: Triple) {
        let NamedOrBlankNode::NamedNode(subject) = triple.subject else {
            return;
        };
        let subject = subject.into_string();
        if triple.predicate.as_ref() == rdf::TYPE {
            let is_concept = matches!(&triple.object, Term::NamedNode(kind)
                if kind.as_str().strip_prefix(SKOS) == Some("Concept"));
            self.entry(subject).is_declared |= is_concept;
            return;
        }
        let Some(property) = triple.predicate.as_str().strip_prefix(SKOS) else {
            return;
        };
        match (property, triple.object) {
            ("prefLabel", Term::Literal(literal)) => {
                self.entry(subject).names.own.push(Name::from(&literal));
            }
            ("altLabel" | "hiddenLabel", Term::Literal(literal)) => {
                self.entry(subject)
                    .names
                    .alternatives
                    .push(Name::from(&literal));
            }
            ("broader", Term::NamedNode(parent)) => self.add_parent(subject, parent.into_string()),
            ("narrower", Term::NamedNode(child)) => self.add_parent(child.into_string(), subject),
            _ => {}
        }
    }

    fn entry(&mut self, iri: String) -> &mut Concept {
        let next = self.concepts.len();
        let index = *self.indices.entry(iri).or_insert_with_key(|iri| {
            self.concepts.push(Concept {
                iri: iri.clone(),
                ..Concept::default()
            });
            next
        });
        &mut self.concepts[index]
    }

    fn add_parent(&mut self, child: String, parent: String) {
        let concept = self.entry(child);
        if !concept.parents.contains(&parent) {
            concept.parents.push(parent);
        }
    }

    /// The labels: resources declared as concepts or, where none is, all that have a name.
    fn finish(self, languages: &NameLanguages, origin: &Origin) -> Result<Vec<PlacedLabel>> {
        let named = self.concepts.iter().flat_map(|concept| &concept.names.own);
        let found = named
            .map(|name| name.language.clone())
            .filter(|tag| !tag.is_empty());
        languages.check(&found.collect(), origin)?;
        let has_types = self.concepts.iter().any(|concept| concept.is_declared);
        let is_label = |concept: &Concept| {
            if has_types {
                concept.is_declared
            } else {
                !concept.names.own.is_empty()
            }
        };
        Ok(self
            .concepts
            .into_iter()
            .filter(is_label)
            .map(|concept| {
                let Concept {
                    iri,
                    names,
                    parents,
                    ..
                } = concept;
                (languages.label(iri, &names, parents), None)
            })
            .collect())
    }
}

impl From<&oxrdf::Literal> for Name {
    fn from(literal: &oxrdf::Literal) -> Self {
        let language = literal.language().unwrap_or_default().to_ascii_lowercase();
        Self {
            text: literal.value().trim().to_owned(),
            language,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use crate::corpus::Label;

    const TURTLE: &str = r#"
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://example.org/> .
:scheme a skos:ConceptScheme ; skos:prefLabel "Nature"@en .
:sea a skos:Concept ;
    skos:prefLabel "Meer"@de, "sea"@en ;
    skos:altLabel "ocean"@en, "See"@de, "sea"@en, "the deep" ;
    skos:broader :water .
:water a skos:Concept ; skos:prefLabel "eau"@fr, "water" ; skos:narrower :lake, :sea .
:lake a skos:Concept ; skos:prefLabel "lac"@fr, "See"@de .
"#;

    fn expected() -> Vec<Label> {
        let label = |key: &str, name: &str, alternatives: &[&str], parents: &[&str]| Label {
            key: format!("http://example.org/{key}"),
            name: name.into(),
            alternatives: alternatives.iter().map(ToString::to_string).collect(),
            parents: parents
                .iter()
                .map(|key| format!("http://example.org/{key}"))
                .collect(),
        };
        vec![
            label("sea", "sea", &["ocean", "the deep"], &["water"]),
            label("water", "water", &[], &[]),
            label("lake", "lac", &[], &["water"]),
        ]
    }

    #[test]
    fn turtle_gives_names_alternatives_and_parents() {
        assert_eq!(read(TURTLE).unwrap(), expected());
    }

    #[test]
    fn rdf_xml_gives_the_same() {
        let text = r#"<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
         xmlns:skos="http://www.w3.org/2004/02/skos/core#">
  <skos:Concept rdf:about="http://example.org/sea">
    <skos:prefLabel xml:lang="de">Meer</skos:prefLabel>
    <skos:prefLabel xml:lang="en">sea</skos:prefLabel>
    <skos:altLabel xml:lang="en">ocean</skos:altLabel>
    <skos:altLabel>the deep</skos:altLabel>
    <skos:broader rdf:resource="http://example.org/water"/>
  </skos:Concept>
  <skos:Concept rdf:about="http://example.org/water"><skos:prefLabel>water</skos:prefLabel></skos:Concept>
  <skos:Concept rdf:about="http://example.org/lake">
    <skos:prefLabel xml:lang="fr">lac</skos:prefLabel>
    <skos:broader rdf:resource="http://example.org/water"/>
  </skos:Concept>
</rdf:RDF>"#;
        assert_eq!(read(text).unwrap(), expected());
    }

    #[test]
    fn entities_stand_for_iris_and_not_for_each_other() {
        let text = |entities: &str| {
            format!(
                r#"<?xml version="1.0"?><!DOCTYPE rdf:RDF [<!ENTITY e "http://example.org/">{entities}]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
         xmlns:skos="http://www.w3.org/2004/02/skos/core#">
  <skos:Concept rdf:about="&e;lake"><skos:prefLabel>lake</skos:prefLabel></skos:Concept>
</rdf:RDF>"#
            )
        };
        assert_eq!(read(&text("")).unwrap()[0].key, "http://example.org/lake");
        let nested = text(r#"<!ENTITY f "&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;">"#);
        let message = read(&nested).unwrap_err().to_string();
        assert!(
            message.contains("vocabulary: an entity of XML names another"),
            "{message}"
        );
    }

    #[test]
    fn broken_files_are_named() {
        let message = read("@prefix a: <http://a/> .\na:b a:c\n.\n")
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("vocabulary:3: not valid Turtle"),
            "{message}"
        );
        let message = read("<?xml version=\"1.0\"?>\n<rdf:RDF")
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("vocabulary: not valid RDF/XML"),
            "{message}"
        );
        let message = read("@prefix a: <http://a/> .\na:b a:c a:d .\n")
            .unwrap_err()
            .to_string();
        assert!(
            message.ends_with("vocabulary: the file has no labels"),
            "{message}"
        );
    }
}
