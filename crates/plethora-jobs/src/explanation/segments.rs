//! A text cut where its spans begin and end, so that each part has one weight.

use std::ops::Range;

use plethora_system::ShownSpan;

/// A part of a text, in bytes, with the sum of the weights of all spans over it.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// Where it is in the text.
    pub bytes: Range<usize>,
    /// The sum of the weights.
    pub weight: f32,
}

/// Cuts a text of `length` bytes; the parts cover it without gaps. Weights are 0 where no span is.
pub fn segments(length: usize, spans: &[ShownSpan]) -> Vec<Segment> {
    let mut spans: Vec<&ShownSpan> = spans
        .iter()
        .filter(|span| span.start_byte < span.end_byte && span.end_byte <= length)
        .collect();
    spans.sort_by_key(|span| span.start_byte);
    let mut bounds: Vec<usize> = spans
        .iter()
        .flat_map(|span| [span.start_byte, span.end_byte])
        .chain([0, length])
        .collect();
    bounds.sort_unstable();
    bounds.dedup();
    let mut waiting = spans.into_iter().peekable();
    let mut open: Vec<&ShownSpan> = Vec::new();
    bounds
        .windows(2)
        .map(|bounds| {
            let bytes = bounds[0]..bounds[1];
            open.retain(|span| span.end_byte > bytes.start);
            while let Some(span) = waiting.next_if(|span| span.start_byte <= bytes.start) {
                open.push(span);
            }
            Segment {
                bytes,
                weight: open.iter().map(|span| span.weight).sum(),
            }
        })
        .collect()
}

/// The largest weight of any part, sign aside.
pub fn strongest(segments: &[Segment]) -> f32 {
    let weights = segments.iter().map(|segment| segment.weight.abs());
    weights.fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(length: usize, spans: &[(usize, usize, f32)]) -> Vec<(usize, usize, f32)> {
        let spans: Vec<ShownSpan> = spans
            .iter()
            .map(|&(start, end, weight)| ShownSpan {
                start,
                end,
                start_byte: start,
                end_byte: end,
                text: String::new(),
                weight,
            })
            .collect();
        segments(length, &spans)
            .into_iter()
            .map(|segment| (segment.bytes.start, segment.bytes.end, segment.weight))
            .collect()
    }

    #[test]
    fn weights_add_up_where_spans_overlap() {
        assert_eq!(
            cut(9, &[(0, 3, 1.0), (0, 7, 0.5), (4, 7, -2.0)]),
            [(0, 3, 1.5), (3, 4, 0.5), (4, 7, -1.5), (7, 9, 0.0)]
        );
    }

    #[test]
    fn texts_without_spans_stay_whole() {
        assert_eq!(cut(5, &[]), [(0, 5, 0.0)]);
        assert_eq!(cut(0, &[]), []);
        assert_eq!(cut(2, &[(1, 1, 3.0), (0, 9, 1.0)]), [(0, 2, 0.0)]);
    }
}
