//! A real Prometheus server for a test, and what it makes of the gateway's metrics.
//!
//! As with PostgreSQL, the server is the child of a shell script that waits on a pipe, so that it ends with the test process however that
//! ends. It keeps its data in a temporary folder and knows nothing of a service the distribution may have set up.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::ports::free_address;
use crate::raw::Connection;
use crate::{raw, wait, watchdog};

/// `$0` is the server, `$1` its folder and `$2` its address.
const START: &str = r#""$0" --config.file="$1/prometheus.yaml" --storage.tsdb.path="$1/data" --web.listen-address="$2" \
    --query.lookback-delta=5s >"$1/log" 2>&1"#;
const MISSING: &str = "prometheus is not installed; these tests need its server and promtool: apt-get install prometheus";
/// How long a sample may take from the gateway to an answer, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running server that asks one gateway ten times a second.
pub struct Prometheus {
    address: SocketAddr,
    folder: TempDir,
    watchdog: Child,
}

impl Prometheus {
    /// Starts one that asks `target`, and waits until it has asked.
    ///
    /// # Panics
    /// When it is not installed or does not start.
    #[must_use]
    pub fn start(target: SocketAddr) -> Self {
        let folder = tempfile::Builder::new().prefix("svc-prometheus-").tempdir().expect("a temporary folder");
        let conf = format!(
            "global: {{scrape_interval: 100ms, scrape_timeout: 100ms}}\nscrape_configs:\n  - job_name: svc\n    static_configs: [{{targets: [\"{target}\"]}}]\n"
        );
        fs::write(folder.path().join("prometheus.yaml"), conf).expect("the folder is writable");
        let address = free_address();
        let watchdog = Command::new("/bin/sh")
            .args(["-c", &watchdog::script(START, "KILL")])
            .arg("prometheus")
            .arg(folder.path())
            .arg(address.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let mut server = Self { address, folder, watchdog };
        wait::within(PATIENCE, "Prometheus to ask the gateway", || {
            if server.watchdog.try_wait().expect("the watchdog is ours").is_some() {
                panic!("{MISSING}\n{}", fs::read_to_string(server.folder.path().join("log")).unwrap_or_default());
            }
            let mut connection = Connection::try_open(address)?;
            connection.send("GET /-/ready HTTP/1.1\r\nhost: test\r\n\r\n");
            connection.answer().filter(|answer| answer.status == 200)?;
            server.value("up").filter(|up| *up == 1.0)
        });
        server
    }

    /// What a query gives now: values by the labels of their series, such as `model=m,provider=p`, without those of the target.
    ///
    /// # Errors
    /// What the server has against the query.
    ///
    /// # Panics
    /// When it does not answer.
    pub fn query(&self, query: &str) -> Result<BTreeMap<String, f64>, String> {
        let encoded: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let answer = raw::get(self.address, &format!("/api/v1/query?query={encoded}"), &[("connection", "close")]).json();
        if answer["status"] != "success" {
            return Err(answer["error"].to_string());
        }
        let number = |sample: &Value| sample[1].as_str().and_then(|text| text.parse().ok()).expect("a sample");
        if answer["data"]["resultType"] == "scalar" {
            return Ok([(String::new(), number(&answer["data"]["result"]))].into());
        }
        let series = answer["data"]["result"].as_array().expect("a list of series");
        Ok(series.iter().map(|series| (labels(&series["metric"]), number(&series["value"]))).collect())
    }

    /// The one value a query gives; none where there is none.
    ///
    /// # Panics
    /// When the query is wrong, or gives several.
    #[must_use]
    pub fn value(&self, query: &str) -> Option<f64> {
        let found = self.query(query).unwrap_or_else(|error| panic!("{query}: {error}"));
        assert!(found.len() < 2, "{query} gives several: {found:?}");
        found.into_values().next()
    }

    /// Waits until a query gives this value.
    ///
    /// # Panics
    /// When it does not; says what it gives.
    pub fn expect(&self, query: &str, value: f64) {
        let mut last = None;
        let deadline = std::time::Instant::now() + PATIENCE;
        while std::time::Instant::now() < deadline {
            last = self.value(query);
            if last.is_some_and(|last| (last - value).abs() < 1e-9) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{query} is {last:?}, not {value}");
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        drop(self.watchdog.stdin.take());
        let _ = self.watchdog.wait();
    }
}

fn labels(metric: &Value) -> String {
    let own = metric.as_object().into_iter().flatten().filter(|(name, _)| !matches!(name.as_str(), "__name__" | "job" | "instance"));
    own.map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default())).collect::<Vec<_>>().join(",")
}

/// Runs `promtool` with something on its standard input; what it says, if it is content.
///
/// # Errors
/// What it says otherwise.
///
/// # Panics
/// When it is not installed.
pub fn promtool(arguments: &[&str], input: &str) -> Result<String, String> {
    let mut child = Command::new("promtool")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect(MISSING);
    child.stdin.take().expect("it is piped").write_all(input.as_bytes()).expect("it reads its input");
    let output = child.wait_with_output().expect("promtool is ours");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if output.status.success() && output.stderr.is_empty() { Ok(said) } else { Err(said) }
}
