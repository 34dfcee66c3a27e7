//! stub
use super::Conf;
use super::error::Problem;
use super::expand::Lookup;
use super::node::Node;
pub(super) fn check(_conf: &Conf, _root: &Node, _origin: &str, _env: &Lookup<'_>) -> Vec<Problem> {
    Vec::new()
}
