//! Where the places of an unescaped text lie in what was written.

/// Stretches in which both go on byte by byte.
#[derive(Debug)]
pub(super) struct Runs(Vec<Run>);

#[derive(Clone, Copy, Debug)]
struct Run {
    inner: usize,
    outer: usize,
}

impl Runs {
    /// A text that begins at `outer`.
    pub(super) fn at(outer: usize) -> Self {
        Self(vec![Run { inner: 0, outer }])
    }

    /// At `inner` comes an escape, which is at `outer` and `length` bytes long; it stands for `decoded` bytes.
    pub(super) fn escape(&mut self, inner: usize, outer: usize, decoded: usize, length: usize) {
        self.0.push(Run { inner, outer });
        self.0.push(Run { inner: inner + decoded, outer: outer + length });
    }

    /// Where the place `inner` of the text lies.
    pub(super) fn outer(&self, inner: usize) -> usize {
        let after = self.0.partition_point(|run| run.inner <= inner);
        let run = after.checked_sub(1).and_then(|at| self.0.get(at)).or(self.0.first());
        run.map_or(0, |run| run.outer + inner.saturating_sub(run.inner))
    }

    /// Nothing before `inner` is asked for any more.
    pub(super) fn forget(&mut self, inner: usize) {
        if self.0.len() > 1 {
            let gone = self.0.partition_point(|run| run.inner <= inner).saturating_sub(1);
            self.0.drain(..gone);
        }
    }
}
