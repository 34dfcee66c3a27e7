//! Licences and editions over real processes: every way a licence can stand, what recovery mode caps, what a downgrade leaves alone.

mod attacks;
mod caps;
mod community;
mod downgrade;
mod program;
mod stage;
mod states;
