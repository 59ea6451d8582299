//! What the types of settings say about their keys.

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::auto::AUTO;
use super::kind::Kind;

/// The last part of settings that tell which other settings a group has: they make the system.
pub(super) const GROUP_KIND: &str = "kind";

/// The settings of a type, in one piece.
pub fn schema_of<T: JsonSchema>() -> Schema {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>()
}

/// What each setting takes, by its dotted key. Where groups have several forms, `recipe` says which.
pub(super) fn kinds(schema: &Schema, recipe: &Value) -> BTreeMap<String, Kind> {
    let mut kinds = BTreeMap::new();
    collect(schema.as_value(), recipe, "", &mut kinds);
    kinds
}

fn collect(schema: &Value, recipe: &Value, key: &str, kinds: &mut BTreeMap<String, Kind>) {
    let schema = form_of(schema, recipe);
    if let Some(properties) = schema["properties"].as_object() {
        // A group that the recipe lacks is one of other systems of the family.
        if recipe.is_null() && !key.is_empty() {
            return;
        }
        for (name, property) in properties {
            collect(property, &recipe[name], &joined(key, name), kinds);
        }
    } else if let Some(kind) = kind_of(schema) {
        kinds.insert(key.to_owned(), kind);
    }
}

/// The form of a group that the recipe has, and what may be absent as if it were there.
fn form_of<'a>(schema: &'a Value, recipe: &Value) -> &'a Value {
    let Some(forms) = alternatives(schema) else {
        return schema;
    };
    let forms: Vec<&Value> = forms.iter().filter(|form| form["type"] != "null").collect();
    let is_recipes = |form: &&&Value| {
        let tag = &form["properties"][GROUP_KIND]["const"];
        tag.is_string() && *tag == recipe[GROUP_KIND]
    };
    match (forms.iter().find(is_recipes), forms.as_slice()) {
        (Some(form), _) => form,
        (None, [only]) => form_of(only, recipe),
        _ => schema,
    }
}

fn alternatives(schema: &Value) -> Option<&Vec<Value>> {
    (schema["oneOf"].as_array()).or_else(|| schema["anyOf"].as_array())
}

/// What a single setting takes.
fn kind_of(schema: &Value) -> Option<Kind> {
    if let Some(word) = schema["const"].as_str() {
        return Some(Kind::Choice(vec![word.to_owned()]));
    }
    if let Some(words) = schema["enum"].as_array() {
        let words = words.iter().filter_map(Value::as_str);
        return Some(Kind::Choice(words.map(str::to_owned).collect()));
    }
    if let Some(forms) = alternatives(schema) {
        return Some(kind_of_alternatives(forms));
    }
    let types = &schema["type"];
    let one_of_several = |types: &'_ Value| {
        let mut types = types.as_array()?.iter().filter_map(Value::as_str);
        types.find(|name| *name != "null").map(str::to_owned)
    };
    let name = types.as_str().map(str::to_owned);
    match name.or_else(|| one_of_several(types))?.as_str() {
        "boolean" => Some(Kind::Switch),
        "integer" => Some(Kind::Count),
        "number" => Some(Kind::Number),
        "array" if schema["items"]["type"] == "number" => Some(Kind::Numbers),
        "array" => Some(Kind::Counts),
        "string" => Some(Kind::Text),
        _ => None,
    }
}

fn kind_of_alternatives(forms: &[Value]) -> Kind {
    let (words, others): (Vec<&Value>, Vec<&Value>) =
        forms.iter().partition(|form| form["const"].is_string());
    let words: Vec<String> = words
        .iter()
        .filter_map(|form| Some(form["const"].as_str()?.to_owned()))
        .collect();
    match others.iter().find_map(|form| kind_of(form)) {
        Some(kind) if words == [AUTO] => Kind::Auto(Box::new(kind)),
        Some(Kind::Choice(more)) => Kind::Choice(words.into_iter().chain(more).collect()),
        Some(kind) => kind,
        None => Kind::Choice(words),
    }
}

/// Dotted path of an entry in a group.
pub(super) fn joined(prefix: &str, name: &str) -> String {
    if prefix.is_empty() {
        name.to_owned()
    } else {
        format!("{prefix}.{name}")
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::super::Auto;
    use super::*;

    #[expect(dead_code, reason = "only its type is looked at")]
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Example {
        system: String,
        seed: u64,
        power: Option<f32>,
        epochs: Auto<usize>,
        layers: Vec<usize>,
        starts: Option<Vec<f64>>,
        loss: Loss,
        encoder: Encoder,
        tree: Option<Tree>,
        other: Option<Tree>,
    }

    /// How.
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    enum Loss {
        /// One.
        SquaredHinge,
        /// Another.
        Log,
    }

    #[expect(dead_code, reason = "only its type is looked at")]
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind", rename_all = "kebab-case")]
    enum Encoder {
        /// One.
        Recurrent(Recurrent),
        /// Another.
        Wide(Wide),
    }

    #[expect(dead_code, reason = "only its type is looked at")]
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Recurrent {
        hidden: usize,
    }

    #[expect(dead_code, reason = "only its type is looked at")]
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Wide {
        windows: Vec<usize>,
    }

    #[expect(dead_code, reason = "only its type is looked at")]
    #[derive(Deserialize, JsonSchema)]
    struct Tree {
        max_leaf: usize,
        used: bool,
    }

    #[test]
    fn types_say_which_settings_there_are_and_what_they_take() {
        let recipe = json!({"encoder": {"kind": "recurrent"}, "tree": {}});
        let found = kinds(&schema_of::<Example>(), &recipe);
        let choice = |words: &[&str]| Kind::Choice(words.iter().map(ToString::to_string).collect());
        let expected = [
            ("encoder.hidden", Kind::Count),
            ("encoder.kind", choice(&["recurrent"])),
            ("epochs", Kind::Auto(Box::new(Kind::Count))),
            ("layers", Kind::Counts),
            ("loss", choice(&["squared-hinge", "log"])),
            ("power", Kind::Number),
            ("seed", Kind::Count),
            ("starts", Kind::Numbers),
            ("system", Kind::Text),
            ("tree.max_leaf", Kind::Count),
            ("tree.used", Kind::Switch),
        ];
        let expected: BTreeMap<_, _> = expected.map(|(key, kind)| (key.to_owned(), kind)).into();
        assert_eq!(found, expected);
    }
}
