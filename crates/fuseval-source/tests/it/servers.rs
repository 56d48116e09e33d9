//! Servers for tests, in processes of their own: an S3 server, and a web server with faults. Also used by the tests of the
//! product.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A server that ends with the test.
pub struct Server {
    process: Child,
    pub port: u16,
}

impl Server {
    /// The web server of `testdata/stores/faults.py`, on the files of a folder. None, said so, where there is no Python.
    pub fn with_faults(folder: &Path) -> Option<Self> {
        Self::start("faults.py", &[folder.as_os_str().to_str().unwrap()])
    }

    /// The S3 server of `testdata/stores/s3.py`.
    pub fn s3() -> Option<Self> {
        Self::start("s3.py", &[])
    }

    fn start(script: &str, arguments: &[&str]) -> Option<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/stores").join(script);
        let Some(python) = std::env::var_os("VIRTUAL_ENV").map(|folder| PathBuf::from(folder).join("bin/python"))
        else {
            println!(
                "skipped: no VIRTUAL_ENV with the Python packages of testdata/requirements.txt, so no server for tests"
            );
            return None;
        };
        let mut command = Command::new(&python);
        command.arg(&script).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = match command.spawn() {
            Ok(process) => process,
            Err(reason) => {
                println!("skipped: {} does not run ({reason}), so no server for tests", python.display());
                return None;
            }
        };
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        if let Ok(port) = line.trim().parse() {
            return Some(Self { process, port });
        }
        process.kill().unwrap();
        let mut said = String::new();
        process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        process.wait().unwrap();
        assert!(said.contains("No module named 'moto'"), "{}: {said}", script.display());
        println!("skipped: no Python package moto here, so no S3 server for tests");
        None
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    /// A request without any library; the answer with its headers.
    pub fn request(&self, method: &str, path: &str, body: &[u8]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let length = body.len();
        let host = format!("127.0.0.1:{}", self.port);
        let head = format!(
            "{method} /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Puts an object, or a bucket for a path without `/`.
    pub fn put(&self, path: &str, body: &[u8]) {
        let answer = self.request("PUT", path, body);
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }

    /// How many requests were made whose line in the log holds all of the words.
    pub fn requests(&self, words: &[&str]) -> usize {
        let log = self.request("GET", "log", b"");
        log.lines().filter(|line| words.iter().all(|word| line.contains(word))).count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A port on which nothing listens.
pub fn dead_port() -> u16 {
    std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}
