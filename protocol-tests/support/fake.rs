//! A scripted broker on loopback that misbehaves as told: one thread per connection.

#![allow(clippy::unwrap_used)] // Outside test functions too, a surprise fails the test.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use kafka_protocol::protocol::Request as TypedRequest;
use kdyno::wire::api::ApiKey;
use kdyno::wire::control::{decode_request, encode_response};
use kdyno::wire::cursor::Cursor;
use kdyno::wire::header::RequestHeader;

/// Long enough for anything that should happen on loopback, however busy the machine.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// What the fake does next on a connection.
#[derive(Debug, Clone)]
pub enum Action {
    /// Sends bytes as they are.
    Send(Vec<u8>),
    /// Does nothing for a while.
    Pause(Duration),
    /// Ends the stream.
    Close,
    /// Resets the connection.
    Reset,
}

/// One request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    /// Which connection it came by, from 0.
    pub connection: usize,
    pub api: ApiKey,
    pub version: i16,
    pub correlation_id: i32,
    /// What follows the header.
    pub body: Vec<u8>,
    /// When its last byte was read.
    pub at: Instant,
}

/// How a connection ended, seen from the fake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// Between two frames.
    Clean,
    /// After so many bytes of a frame.
    WithinFrame(usize),
    /// By a reset.
    Reset,
    /// With bytes that are no frame.
    Garbage,
}

type Script = dyn Fn(&Request) -> Vec<Action> + Send + Sync;

/// What the fake does.
pub struct Behaviour {
    /// Before anything is read.
    pub greeting: Vec<Action>,
    /// After each request.
    pub script: Box<Script>,
    /// Nothing is read while it is shut.
    pub gate: Option<Arc<Gate>>,
    /// SO_RCVBUF of its connections.
    pub receive_buffer_bytes: Option<usize>,
    /// Where it listens.
    pub bind: &'static str,
}

impl Behaviour {
    /// Answers each request by `script`.
    pub fn script(script: impl Fn(&Request) -> Vec<Action> + Send + Sync + 'static) -> Self {
        Self {
            greeting: Vec::new(),
            script: Box::new(script),
            gate: None,
            receive_buffer_bytes: None,
            bind: "127.0.0.1:0",
        }
    }

    /// Does `greeting` first and answers nothing.
    pub fn greeting(greeting: Vec<Action>) -> Self {
        Self {
            greeting,
            ..Self::script(|_| Vec::new())
        }
    }
}

/// A gate that holds up reading.
#[derive(Debug, Default)]
pub struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    pub fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.changed.notify_all();
    }

    fn pass(&self) {
        let open = self.open.lock().unwrap();
        drop(self.changed.wait_while(open, |open| !*open).unwrap());
    }
}

/// The fake. Dropping it closes everything.
pub struct Fake {
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    log: Mutex<Log>,
    changed: Condvar,
}

#[derive(Default)]
struct Log {
    stopped: bool,
    requests: Vec<Request>,
    ends: Vec<(usize, End)>,
    /// To close them from outside; `None` once they have ended.
    streams: Vec<Option<TcpStream>>,
}

impl Fake {
    pub fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind(behaviour.bind).unwrap();
        if let Some(bytes) = behaviour.receive_buffer_bytes {
            let socket = socket2::SockRef::from(&listener);
            socket.set_recv_buffer_size(bytes).unwrap();
        }
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        thread::spawn(move || accept(&listener, &Arc::new(behaviour), &shared));
        Self { address, state }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.state.log.lock().unwrap().requests.clone()
    }

    /// How many connections it accepted.
    pub fn connections(&self) -> usize {
        self.state.log.lock().unwrap().streams.len()
    }

    /// Waits for `count` requests of one API.
    pub fn wait_for(&self, api: ApiKey, count: usize) -> Vec<Request> {
        self.wait(|log| {
            let of_api = log.requests.iter().filter(|request| request.api == api);
            let found: Vec<_> = of_api.cloned().collect();
            (found.len() >= count).then_some(found)
        })
    }

    /// Waits until connection `connection` has ended.
    pub fn wait_for_end(&self, connection: usize) -> End {
        self.wait(|log| {
            let mut ends = log.ends.iter();
            ends.find(|end| end.0 == connection)
                .map(|end| end.1.clone())
        })
    }

    fn wait<T>(&self, mut found: impl FnMut(&Log) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        let mut log = self.state.log.lock().unwrap();
        loop {
            if let Some(found) = found(&log) {
                return found;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "nothing came in {PATIENCE:?}");
            log = self.state.changed.wait_timeout(log, left).unwrap().0;
        }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let mut log = self.state.log.lock().unwrap();
        log.stopped = true;
        for stream in log.streams.iter().flatten() {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
        drop(log);
        // Wakes the accepting thread.
        let _ = TcpStream::connect(self.address);
    }
}

/// A whole reply to `request`, typed.
pub fn reply<R: TypedRequest>(request: &Request, response: &R::Response) -> Vec<Action> {
    let bytes = encode_response::<R>(response, request.version, request.correlation_id);
    vec![Action::Send(bytes.unwrap())]
}

/// The body of `request`, typed.
pub fn typed<R: TypedRequest>(request: &Request) -> R {
    decode_request(&request.body, request.version).unwrap()
}

/// A reply from a vector in hex, its correlation id patched to the request's.
pub fn patched(request: &Request, frame: &str) -> Vec<Action> {
    let mut bytes = hex(frame);
    bytes[4..8].copy_from_slice(&request.correlation_id.to_be_bytes());
    vec![Action::Send(bytes)]
}

/// Bytes from hex.
pub fn hex(text: &str) -> Vec<u8> {
    let pairs = (0..text.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

fn accept(listener: &TcpListener, behaviour: &Arc<Behaviour>, state: &Arc<State>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else { return };
        stream.set_nodelay(true).unwrap();
        let mut log = state.log.lock().unwrap();
        if log.stopped {
            return;
        }
        let connection = log.streams.len();
        log.streams.push(Some(stream.try_clone().unwrap()));
        drop(log);
        let (behaviour, state) = (Arc::clone(behaviour), Arc::clone(state));
        thread::spawn(move || {
            let end = serve(connection, stream, &behaviour, &state);
            let mut log = state.log.lock().unwrap();
            // The last handle: here the socket is closed, or reset.
            log.streams[connection] = None;
            log.ends.push((connection, end));
            drop(log);
            state.changed.notify_all();
        });
    }
}

fn serve(connection: usize, mut stream: TcpStream, behaviour: &Behaviour, state: &State) -> End {
    if let Some(end) = act(&mut stream, &behaviour.greeting) {
        return end;
    }
    loop {
        let frame = match read_frame(&mut stream, behaviour.gate.as_deref()) {
            Ok(frame) => frame,
            Err(end) => return end,
        };
        let mut cursor = Cursor::new(&frame);
        let Ok(header) = RequestHeader::read(&mut cursor) else {
            return End::Garbage;
        };
        let request = Request {
            connection,
            api: header.api,
            version: header.version,
            correlation_id: header.correlation_id,
            body: cursor.rest().to_vec(),
            at: Instant::now(),
        };
        state.log.lock().unwrap().requests.push(request.clone());
        state.changed.notify_all();
        if let Some(end) = act(&mut stream, &(behaviour.script)(&request)) {
            return end;
        }
    }
}

/// Does what is told; says how the connection ended, if it did.
fn act(stream: &mut TcpStream, actions: &[Action]) -> Option<End> {
    for action in actions {
        match action {
            Action::Send(bytes) if stream.write_all(bytes).is_err() => return Some(End::Reset),
            Action::Send(_) => {}
            Action::Pause(pause) => thread::sleep(*pause),
            Action::Close => return Some(End::Clean),
            Action::Reset => {
                // With no time to linger, closing sends a reset.
                let socket = socket2::SockRef::from(&*stream);
                let _ = socket.set_linger(Some(Duration::ZERO));
                return Some(End::Reset);
            }
        }
    }
    None
}

fn read_frame(stream: &mut TcpStream, gate: Option<&Gate>) -> Result<Vec<u8>, End> {
    let length = read_exactly(stream, 4, gate, 0)?;
    let length = i32::from_be_bytes(length.try_into().unwrap());
    let Ok(length @ 0..=0x0800_0000) = usize::try_from(length) else {
        return Err(End::Garbage);
    };
    read_exactly(stream, length, gate, 4)
}

/// `bytes` bytes; an end before counts from the frame's first byte, of which `before` are read.
fn read_exactly(
    stream: &mut TcpStream,
    bytes: usize,
    gate: Option<&Gate>,
    before: usize,
) -> Result<Vec<u8>, End> {
    let mut out = vec![0; bytes];
    let mut have = 0;
    while have < bytes {
        if let Some(gate) = gate {
            gate.pass();
        }
        match stream.read(&mut out[have..]) {
            Ok(0) if before + have == 0 => return Err(End::Clean),
            Ok(0) => return Err(End::WithinFrame(before + have)),
            Ok(bytes) => have += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(End::Reset),
        }
    }
    Ok(out)
}
