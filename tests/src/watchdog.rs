//! Servers that end with the test process, whatever happens to it.

/// A shell script that starts a server and ends it once its standard input is closed, which the end of the process that holds the other side
/// does too. `start` is the server's command line, with arguments from `$0` on; `signal` is what ends it.
///
/// The pipe is read from descriptor 3, since a shell gives its background children no standard input; the server must not hold it itself.
#[must_use]
pub(crate) fn script(start: &str, signal: &str) -> String {
    format!(
        r#"
exec 3<&0 </dev/null
{start} 3<&- &
server=$!
{{ read -r _ <&3; kill -{signal} "$server"; }} >/dev/null 2>&1 &
reader=$!
wait "$server"
kill "$reader" 2>/dev/null
"#
    )
}
