//! A small server that takes REST calls and keeps them.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::PATIENCE;

/// The server; its threads end with the process.
pub(crate) struct Rest {
    pub(crate) url: String,
    calls: Arc<Mutex<Vec<RestCall>>>,
}

/// What came.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RestCall {
    /// Method and path, like `GET /api/tenants`.
    pub(crate) line: String,
    /// The bearer token.
    pub(crate) token: Option<String>,
    /// The body, if there is one.
    pub(crate) body: Option<Value>,
}

/// What it says: a status and a body.
pub(crate) type RestAnswer = (u16, String);

impl Rest {
    /// Answers every call with what this says.
    pub(crate) fn new(answer: impl Fn(&RestCall) -> RestAnswer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let calls = Arc::new(Mutex::new(Vec::new()));
        let (all, answer) = (Arc::clone(&calls), Arc::new(answer));
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let (calls, answer) = (Arc::clone(&all), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream, &calls, answer.as_ref()));
            }
        });
        Self { url, calls }
    }

    /// Answers every call the same.
    pub(crate) fn always(status: u16, body: &Value) -> Self {
        let body = match status {
            204 => String::new(),
            _ => body.to_string(),
        };
        Self::new(move |_| (status, body.clone()))
    }

    /// Refuses every call.
    pub(crate) fn refusing(status: u16, message: &str, details: &Value) -> Self {
        let error = json!({"code": "x", "message": message, "details": details});
        Self::always(status, &json!({"error": error, "request_id": "01REQUEST"}))
    }

    /// What came so far.
    pub(crate) fn calls(&self) -> Vec<RestCall> {
        self.calls.lock().unwrap().clone()
    }

    /// The only call that came.
    #[track_caller]
    pub(crate) fn call(&self) -> RestCall {
        let calls = self.calls();
        assert_eq!(calls.len(), 1, "{calls:?}");
        calls[0].clone()
    }
}

/// Answers one call after the other.
fn serve(
    stream: TcpStream,
    calls: &Mutex<Vec<RestCall>>,
    answer: &(impl Fn(&RestCall) -> RestAnswer + ?Sized),
) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut stream = BufReader::new(stream);
    loop {
        let (mut first, mut line) = (String::new(), String::new());
        if stream.read_line(&mut first)? == 0 {
            return Ok(());
        }
        let (mut length, mut token) = (0, None);
        loop {
            line.clear();
            if stream.read_line(&mut line)? == 0 || line.trim().is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().unwrap(),
                "authorization" => {
                    token = value.trim().strip_prefix("Bearer ").map(str::to_owned);
                }
                _ => {}
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        let mut words = first.split(' ');
        let call = RestCall {
            line: format!("{} {}", words.next().unwrap(), words.next().unwrap()),
            token,
            body: (length > 0).then(|| serde_json::from_slice(&body).unwrap()),
        };
        calls.lock().unwrap().push(call.clone());
        let (status, body) = answer(&call);
        let length = body.len();
        let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n\r\n");
        stream.get_mut().write_all(head.as_bytes())?;
        stream.get_mut().write_all(body.as_bytes())?;
    }
}
