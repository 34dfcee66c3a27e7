//! A real `svc-gateway` process per test, over a configuration of the test's own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::licence;
use crate::ports::free_address;

/// The admin secret of every test gateway.
pub const ADMIN_SECRET: &str = "test-admin-secret-0123456789abcdefghij";
/// A declared key that may call everything.
pub const KEY: &str = "test-key-0123456789";
/// How long a program may take to become ready.
const READY: Duration = Duration::from_secs(60);

/// What a test configures.
#[derive(Clone, Debug)]
pub struct Options {
    /// YAML beside `server.listen`, `database`, `data_dir` and `admin`; `{upstream}` is replaced.
    pub conf: String,
    /// Database URL; a SQLite file in the test's folder by default.
    pub database: Option<String>,
    /// Base URL of the upstream, for `{upstream}`.
    pub upstream: String,
    /// Further keys of the `server` section, one a line.
    pub server: String,
    /// Program to start in place of `svc-gateway`.
    pub program: &'static str,
    /// The licence in the environment; a good Enterprise one by default.
    pub licence: Option<String>,
    /// Further environment.
    pub env: Vec<(String, String)>,
}

/// Providers, models and keys most tests need: one of each shape.
pub const STANDARD: &str = r#"
providers:
  - {name: chat, kind: openai, base_url: "{upstream}/v1", keys: [upstream-key-chat], compatibility: {responses: true}}
  - {name: messages, kind: anthropic, base_url: "{upstream}", keys: [upstream-key-messages]}
  - {name: generate, kind: gemini, base_url: "{upstream}", keys: [upstream-key-generate]}
models:
  - {name: chat-model, aliases: [default], targets: [{provider: chat, model: demo-1}]}
  - {name: messages-model, aliases: [claude-alias], targets: [{provider: messages, model: demo-1}]}
  - {name: generate-model, targets: [{provider: generate, model: demo-1}]}
keys:
  - {name: all, secret: test-key-0123456789, owner: {user: dev@example.com}}
  - {name: limited, secret: test-key-limited-01, owner: {user: dev@example.com}, allowed_models: [default]}
  - {name: disabled, secret: test-key-disabled-1, owner: {user: dev@example.com}, status: disabled}
  - {name: expired, secret: test-key-expired-01, owner: {user: dev@example.com}, expires_at: "2020-01-01T00:00:00Z"}
"#;

impl Options {
    /// The standard configuration over an upstream.
    #[must_use]
    pub fn standard(upstream: &str) -> Self {
        Self {
            conf: STANDARD.to_owned(),
            database: None,
            upstream: upstream.to_owned(),
            server: String::new(),
            program: "svc-gateway",
            licence: Some(licence::enterprise()),
            env: Vec::new(),
        }
    }

    /// Adds YAML.
    #[must_use]
    pub fn with(mut self, conf: &str) -> Self {
        self.conf.push_str(conf);
        self
    }

    /// Adds models, one line each.
    #[must_use]
    pub fn with_models(mut self, lines: &str) -> Self {
        self.conf = self.conf.replacen("\nkeys:\n", &format!("\n{}\nkeys:\n", lines.trim_end()), 1);
        self
    }

    /// Adds providers, one line each.
    #[must_use]
    pub fn with_providers(mut self, lines: &str) -> Self {
        self.conf = self.conf.replacen("\nmodels:\n", &format!("\n{}\nmodels:\n", lines.trim_end()), 1);
        self
    }

    /// Adds keys of the `server` section.
    #[must_use]
    pub fn with_server(mut self, lines: &str) -> Self {
        self.server.push_str(lines);
        self
    }

    /// Starts with another licence, or without one.
    #[must_use]
    pub fn with_licence(mut self, licence: Option<String>) -> Self {
        self.licence = licence;
        self
    }

    /// Uses another database.
    #[must_use]
    pub fn with_database(mut self, url: &str) -> Self {
        self.database = Some(url.to_owned());
        self
    }
}

/// A running gateway.
pub struct Gateway {
    /// Where it listens.
    pub address: SocketAddr,
    folder: TempDir,
    options: Options,
    child: Child,
    log: Arc<Mutex<String>>,
}

impl Gateway {
    /// Starts a gateway and waits until it answers.
    ///
    /// # Panics
    /// When it does not, with its log.
    #[must_use]
    pub fn start(options: Options) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let address = free_address();
        let Spawned { child, log, .. } = spawn(&options, folder.path(), address);
        let mut gateway = Self { address, folder, options, child, log };
        gateway.wait_ready();
        gateway
    }

    /// Starts a gateway that is expected to refuse its configuration, and returns what it printed.
    ///
    /// # Panics
    /// When it starts.
    #[must_use]
    pub fn refuse(options: &Options) -> String {
        Self::refuse_at(options, free_address())
    }

    /// Starts a gateway that is expected to refuse to listen on an address, and returns what it printed.
    ///
    /// # Panics
    /// When it starts.
    #[must_use]
    pub fn refuse_at(options: &Options, address: SocketAddr) -> String {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let Spawned { mut child, log, reader } = spawn(options, folder.path(), address);
        let status = child.wait().expect("it can be waited for");
        reader.join().expect("the log can be read");
        assert!(!status.success(), "the gateway was expected to refuse to start");
        log.lock().expect("not poisoned").clone()
    }

    /// Base URL without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Resident memory in KiB.
    ///
    /// # Panics
    /// When the process is gone.
    #[must_use]
    pub fn resident_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("the process is alive");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("Linux tells it");
        line.split_whitespace().nth(1).and_then(|text| text.parse().ok()).expect("a number of kB")
    }

    /// The database it uses.
    #[must_use]
    pub fn database_url(&self) -> String {
        database_url(&self.options, self.folder.path())
    }

    /// Its data directory.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// What it has logged so far.
    ///
    /// # Panics
    /// Never.
    #[must_use]
    pub fn log(&self) -> String {
        self.log.lock().expect("not poisoned").clone()
    }

    /// Waits until its log holds the words. A line may follow the answer it is about.
    ///
    /// # Panics
    /// When it never does.
    pub fn says(&self, words: &str) {
        crate::wait::until(&format!("`{words}` in the log"), || self.log().contains(words).then_some(()));
    }

    /// Process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends it as a power cut would.
    ///
    /// # Panics
    /// When it cannot be ended.
    pub fn kill(&mut self) {
        self.child.kill().expect("the process is ours");
        self.child.wait().expect("the process is ours");
    }

    /// Sends SIGTERM.
    ///
    /// # Panics
    /// When `kill` is missing.
    pub fn terminate(&self) {
        let status = Command::new("kill").arg("-TERM").arg(self.child.id().to_string()).status().expect("kill(1) exists");
        assert!(status.success(), "the process is alive");
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it does not end in time.
    pub fn wait_ended(&mut self, within: Duration) {
        let deadline = Instant::now() + within;
        while Instant::now() < deadline {
            if self.child.try_wait().expect("the process is ours").is_some() {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("the gateway did not end within {within:?}:\n{}", self.log());
    }

    /// Ends it and starts it again with another licence, or without one.
    ///
    /// # Panics
    /// When it does not become ready.
    pub fn relicense(&mut self, licence: Option<String>) {
        self.options.licence = licence;
        self.kill();
        self.restart();
    }

    /// Starts it again over the same folder and address.
    ///
    /// # Panics
    /// When it does not become ready.
    pub fn restart(&mut self) {
        let Spawned { child, log, .. } = spawn(&self.options, self.folder.path(), self.address);
        self.child = child;
        self.log = log;
        self.wait_ready();
    }

    fn wait_ready(&mut self) {
        let deadline = Instant::now() + READY;
        loop {
            if let Some(status) = self.child.try_wait().expect("the process is ours") {
                panic!("the gateway ended with {status}:\n{}", self.log());
            }
            if TcpStream::connect_timeout(&self.address, Duration::from_millis(200)).is_ok() {
                return;
            }
            assert!(Instant::now() < deadline, "the gateway is not ready:\n{}", self.log());
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("--- log of the gateway ---\n{}", self.log());
        }
    }
}

/// A program of the workspace, as built beside the tests.
///
/// # Panics
/// When it was not built.
#[must_use]
pub fn program(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a test has a path");
    let built = own.ancestors().nth(2).expect("tests lie in target/<profile>/deps").join(name);
    assert!(built.exists(), "{} is missing; run `cargo build` first, or `make test`", built.display());
    built
}

fn database_url(options: &Options, folder: &Path) -> String {
    options.database.clone().unwrap_or_else(|| format!("sqlite://{}/svc.db", folder.display()))
}

/// A started program and what reads its log.
struct Spawned {
    child: Child,
    log: Arc<Mutex<String>>,
    reader: thread::JoinHandle<()>,
}

fn spawn(options: &Options, folder: &Path, address: SocketAddr) -> Spawned {
    let conf = format!(
        "server:\n  listen: {address}\n  threads: 2\n{server}\ndatabase: {{url: \"{database}\", max_connections: 4}}\ndata_dir: {data}\nadmin: {{secret: {ADMIN_SECRET}}}\n{rest}",
        server = options.server,
        database = database_url(options, folder),
        data = folder.join("data").display(),
        rest = options.conf.replace("{upstream}", &options.upstream),
    );
    let path = folder.join("svc.yaml");
    fs::write(&path, conf).expect("the folder is writable");
    let mut command = Command::new(program(options.program));
    command.arg("--conf").arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    for (name, seed) in [("SVC_MASTER_KEY", 'm'), ("SVC_KEY_PEPPER", 'p'), ("SVC_JWT_KEY", 'j')] {
        command.env(name, format!("{seed}0123456789abcdefghijklmnopqrstuvwxyz"));
    }
    command.env_remove(licence::VARIABLE).envs(options.licence.iter().map(|token| (licence::VARIABLE, token)));
    command.envs(options.env.iter().map(|(name, value)| (name, value)));
    let mut child = command.spawn().expect("the program starts");
    let log = Arc::new(Mutex::new(String::new()));
    let kept = log.clone();
    let pipe = child.stderr.take().expect("stderr is piped");
    let reader = thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            let mut log = kept.lock().expect("not poisoned");
            log.push_str(&line);
            log.push('\n');
        }
    });
    Spawned { child, log, reader }
}
