//! Telling one text over several lines from a list of texts, one per line.
//!
//! Running text has lines that end within a sentence, because an editor or a mail program broke them: the
//! next one goes on with a small letter. Or it has paragraphs: blank lines between lines of several
//! sentences. A list of titles or abstracts, one per line, has neither.

/// Of all line ends, at least one in so many is within a sentence.
const LINES_PER_BREAK: usize = 5;

/// True for text that is one document.
pub(super) fn is_running_text(sample: &str) -> bool {
    let lines: Vec<&str> = sample.lines().map(str::trim).collect();
    has_broken_sentences(&lines) || has_paragraphs(&lines)
}

fn has_broken_sentences(lines: &[&str]) -> bool {
    let starts_small = |line: &str| line.chars().next().is_some_and(char::is_lowercase);
    let starts_large = |line: &str| line.chars().next().is_some_and(char::is_uppercase);
    let filled: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| !line.is_empty())
        .collect();
    let num_breaks = filled
        .windows(2)
        .filter(|pair| starts_small(pair[1]) && !pair[0].ends_with(['.', '!', '?', ';', '"']))
        .count();
    // A list of words in small letters has no large ones and no full stops.
    let has_sentences = filled.iter().any(|line| starts_large(line))
        && filled.iter().any(|line| num_sentence_ends(line) > 0);
    has_sentences && num_breaks > 0 && num_breaks * LINES_PER_BREAK >= filled.len() - 1
}

fn has_paragraphs(lines: &[&str]) -> bool {
    let trimmed = lines.iter().rposition(|line| !line.is_empty());
    let Some(last) = trimmed else {
        return false;
    };
    let has_blank = lines[..last].iter().any(|line| line.is_empty());
    let num_long = lines.iter().filter(|line| num_sentence_ends(line) > 1);
    has_blank && num_long.count() > 0
}

/// Full stops and the like before a blank or at the end of the line.
fn num_sentence_ends(line: &str) -> usize {
    let ends = line.match_indices(['.', '!', '?']);
    ends.filter(|(place, end)| {
        let rest = &line[place + end.len()..];
        rest.is_empty() || rest.starts_with(char::is_whitespace)
    })
    .count()
}

#[cfg(test)]
mod tests {
    use super::is_running_text;

    #[test]
    fn broken_lines_and_paragraphs_are_one_text() {
        for text in [
            "The harbour was built in 1200, and\nships of all nations came to it. It was\nlarge.\n",
            "Harbours\n\nThe first were built early. They were small.\n\nLater ones were large.\n",
        ] {
            assert!(is_running_text(text), "{text}");
        }
    }

    #[test]
    fn lists_of_texts_are_not() {
        for text in [
            "A history of harbours\nGlass in Venice\n",
            "harbour history\nglass venice\nsmall boats\n",
            "The first harbours. They were small.\nGlass was blown. It broke.\n",
            "A history of harbours\n\nGlass in Venice\n",
            "One line only, with a full stop. And another sentence.\n",
            "A history of harbours.\niPhones and the law.\nGlass in Venice.\nShips.\nCoins.\nMaps.\n",
        ] {
            assert!(!is_running_text(text), "{text}");
        }
    }
}
