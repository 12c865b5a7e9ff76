//! The control plane's own connections, while nobody uses them.

use std::collections::HashMap;

use crate::net::control_stream::ControlStream;

/// How many idle connections are kept for one broker.
const IDLE_PER_NODE_MAX: usize = 2;

/// Idle connections by broker. Whoever needs one takes it out, and brings it back if it still works.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    idle: HashMap<i32, Vec<ControlStream>>,
}

impl Pool {
    /// A connection to the broker with this id, if one is idle and open.
    pub fn take(&mut self, node_id: i32) -> Option<ControlStream> {
        let idle = self.idle.get_mut(&node_id)?;
        // The peer may have closed those that were idle for long.
        std::iter::from_fn(|| idle.pop()).find(ControlStream::is_open)
    }

    /// A connection to whichever broker.
    pub fn take_any(&mut self) -> Option<ControlStream> {
        let nodes: Vec<i32> = self.idle.keys().copied().collect();
        nodes.into_iter().find_map(|node_id| self.take(node_id))
    }

    /// Keeps a connection for later, unless there are enough. One to a bootstrap server is closed:
    /// once brokers are known, only the addresses that they advertise are used.
    pub fn put(&mut self, stream: ControlStream) {
        if stream.node_id() < 0 {
            return;
        }
        let idle = self.idle.entry(stream.node_id()).or_default();
        if idle.len() < IDLE_PER_NODE_MAX {
            idle.push(stream);
        }
    }

    /// Closes the connections to brokers that `keep` does not want.
    pub fn retain(&mut self, keep: impl Fn(i32) -> bool) {
        self.idle.retain(|&node_id, _| keep(node_id));
    }
}
