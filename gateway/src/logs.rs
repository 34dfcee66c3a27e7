//! The log: lines on standard error, for people or for programs.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, Write};
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};

use log::kv::{self, Key, Value, VisitSource, VisitValue};
use log::{Level, Record};
use serde_json::Map;
use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

use crate::conf::LogFormat;

/// What is logged unless `RUST_LOG` says otherwise.
const LEVELS: &str = "info,sea_orm_migration=warn,pingora_core=warn,pingora_proxy=warn,sqlx=warn";
/// RFC 3339.
const MICROSECONDS: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");
/// Whether lines are JSON.
static JSON: AtomicBool = AtomicBool::new(false);

/// Begins to log.
pub fn start(format: LogFormat) {
    let mut builder = env_logger::Builder::from_env(env_logger::Env::default().default_filter_or(LEVELS));
    if format == LogFormat::Json {
        JSON.store(true, Ordering::Relaxed);
        builder.format(write_line);
        std::panic::set_hook(Box::new(panicked));
    }
    builder.init();
    // At its finest level Pingora logs whole request heads, keys included.
    log::set_max_level(log::max_level().min(log::LevelFilter::Debug));
}

/// Says why the program ends: as a line of the log where that is for programs, else as programs say it.
pub fn failed(error: &anyhow::Error) {
    if JSON.load(Ordering::Relaxed) {
        let said = format_args!("{error:#}");
        let _ = write_line(&mut io::stderr(), &Record::builder().args(said).level(Level::Error).target(module_path!()).build());
    } else {
        eprintln!("svc-gateway: {error:#}");
    }
}

fn panicked(panic: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let message = panic.payload_as_str().unwrap_or("a panic without words");
    let place = panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let trace = Backtrace::capture();
    let trace = (trace.status() == BacktraceStatus::Captured).then(|| trace.to_string());
    log::error!(thread = thread.name().unwrap_or("unnamed"), backtrace = trace.as_deref(); "panicked at {place}: {message}");
}

/// One object, one line.
fn write_line(out: &mut impl Write, record: &Record<'_>) -> io::Result<()> {
    let mut line = Map::new();
    let time = OffsetDateTime::now_utc().format(MICROSECONDS).unwrap_or_default();
    let message = record.args().to_string();
    for (name, value) in
        [("timestamp", time.as_str()), ("level", record.level().as_str()), ("target", record.target()), ("message", &message)]
    {
        line.insert(name.to_owned(), value.into());
    }
    // It fails only where the visitor does, and that never does.
    let _ = record.key_values().visit(&mut Fields(&mut line));
    let mut bytes = serde_json::to_vec(&line)?;
    bytes.push(b'\n');
    out.write_all(&bytes)
}

/// Adds fields; none takes the place of what every line has.
struct Fields<'a>(&'a mut Map<String, serde_json::Value>);

impl<'kvs> VisitSource<'kvs> for Fields<'_> {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), kv::Error> {
        let mut found = Found(None);
        value.visit(&mut found)?;
        if let Some(value) = found.0
            && !self.0.contains_key(key.as_str())
        {
            self.0.insert(key.as_str().to_owned(), value);
        }
        Ok(())
    }
}

/// A field's value as JSON; nothing where it is empty.
struct Found(Option<serde_json::Value>);

impl<'v> VisitValue<'v> for Found {
    fn visit_any(&mut self, value: Value<'_>) -> Result<(), kv::Error> {
        self.0 = Some(value.to_string().into());
        Ok(())
    }

    fn visit_null(&mut self) -> Result<(), kv::Error> {
        Ok(())
    }

    fn visit_u64(&mut self, value: u64) -> Result<(), kv::Error> {
        self.0 = Some(value.into());
        Ok(())
    }

    fn visit_i64(&mut self, value: i64) -> Result<(), kv::Error> {
        self.0 = Some(value.into());
        Ok(())
    }

    fn visit_bool(&mut self, value: bool) -> Result<(), kv::Error> {
        self.0 = Some(value.into());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use log::kv::ToValue;
    use serde_json::json;
    use time::format_description::well_known::Rfc3339;

    use super::*;

    fn line(record: &Record<'_>) -> serde_json::Value {
        let mut out = Vec::new();
        write_line(&mut out, record).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches('\n').count(), 1, "one line: {text:?}");
        assert!(text.ends_with('\n') && !text.contains(['\r', '\u{1b}']), "{text:?}");
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn whatever_is_said_is_one_object_on_one_line() {
        for message in ["plain", "two\nlines\r\n", "\"quoted\" \\ {json: 1}", "\u{0}\u{1b}[31m\u{7f}\u{2028}", "ä\u{fffd}🦀"] {
            let read = line(&Record::builder().args(format_args!("{message}")).level(Level::Warn).target("a::b").build());
            assert_eq!((&read["message"], &read["level"], &read["target"]), (&json!(message), &json!("WARN"), &json!("a::b")));
            let time = read["timestamp"].as_str().unwrap();
            assert!(time.len() == "2026-01-31T00:00:00.123456Z".len() && time.ends_with('Z'), "{time}");
            assert!(OffsetDateTime::parse(time, &Rfc3339).is_ok(), "{time}");
        }
    }

    #[test]
    fn fields_keep_their_types_and_take_no_names_away() {
        let none: Option<&str> = None;
        let fields: [(&str, Value<'_>); 6] = [
            ("request_id", Value::from("id\n1")),
            ("bytes", Value::from(7_u64)),
            ("change", Value::from(-7_i64)),
            ("stream", Value::from(true)),
            ("trace_id", none.to_value()),
            ("level", Value::from("INFO")),
        ];
        let read = line(&Record::builder().args(format_args!("x")).level(Level::Error).target("t").key_values(&fields).build());
        assert_eq!(
            (&read["request_id"], &read["bytes"], &read["change"], &read["stream"]),
            (&json!("id\n1"), &json!(7), &json!(-7), &json!(true))
        );
        assert_eq!((read.get("trace_id"), &read["level"]), (None, &json!("ERROR")));
    }
}
