//! Numbers that a file announces.

/// Taken on trust: a few dozen megabytes, whatever the things are.
const FREE: u64 = 1 << 22;

/// Beyond, one thing that is there speaks for this many that are announced: hashed features and numbers
/// with gaps are sparse, but not that sparse.
const PER_FOUND: u64 = 1024;

/// A number of things that a file announces and that memory would be taken for. It is believed as far as
/// the file holds some of them: a few bytes must not take all memory.
///
/// ```
/// use plethora_core::Announced;
///
/// assert_eq!(Announced::new(300_000).believed(20), Some(300_000));
/// assert_eq!(Announced::new(1 << 28).believed(20), None);
/// assert_eq!(Announced::new(1 << 28).believed(1 << 20), Some(1 << 28));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Announced(u64);

impl Announced {
    /// A number as a file has it.
    pub fn new(count: u64) -> Self {
        Self(count)
    }

    /// The number, if the `num_found` things that are really there make it likely.
    pub fn believed(self, num_found: usize) -> Option<usize> {
        let likely = (num_found as u64).saturating_mul(PER_FOUND).max(FREE);
        if self.0 > likely {
            return None;
        }
        usize::try_from(self.0).ok()
    }
}
