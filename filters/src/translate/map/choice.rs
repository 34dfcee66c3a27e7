//! The choice among tools, as both dialects of the chat vendor write it.

use crate::canonical::{Choice, Text};
use crate::wire::json::Writer;

/// Writes a choice. `nested` tells whether those allowed stand in an object of
/// their own, and `reference` writes the object that names one tool.
pub(in crate::translate) fn write(choice: &Choice<'_>, nested: bool, reference: impl Fn(&Text<'_>, &mut Writer<'_>), w: &mut Writer<'_>) {
    match choice {
        Choice::Auto => w.str("auto"),
        Choice::Any => w.str("required"),
        Choice::None => w.str("none"),
        Choice::Named(name) => reference(name, w),
        Choice::Among { names, required } => {
            let allowed = |w: &mut Writer<'_>| {
                w.str_field("mode", if *required { "required" } else { "auto" });
                w.array("tools", |w| names.iter().for_each(|name| reference(name, w)));
            };
            w.begin_object();
            w.str_field("type", "allowed_tools");
            if nested {
                w.object("allowed_tools", allowed);
            } else {
                allowed(w);
            }
            w.end_object();
        }
    }
}
