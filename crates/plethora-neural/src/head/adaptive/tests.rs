pub(super) mod counted {
    pub(crate) fn add(_: &tch::Tensor, _: &tch::Tensor) {}
}
