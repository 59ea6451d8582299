//! How many processors libtorch takes.

/// Has libtorch compute with so many threads from now on, in the whole process; by itself it takes
/// all processors.
pub fn set_num_threads(num_threads: usize) {
    tch::set_num_threads(num_threads as i32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libtorch_takes_as_many_threads_as_it_is_told() {
        set_num_threads(2);
        assert_eq!(tch::get_num_threads(), 2);
    }
}
