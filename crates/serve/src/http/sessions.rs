//! The sessions of clients, and how many of them there may be.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_core::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use tokio::sync::Mutex;

use super::limits::Limits;

/// Sessions that are open.
pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    most: usize,
    /// One client after the other, so that counting and coming in are one step.
    entering: Mutex<()>,
}

/// Why a session could not be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionsError {
    #[error("there are too many sessions")]
    Full,
    #[error(transparent)]
    Manager(#[from] LocalSessionManagerError),
}

impl Sessions {
    pub(super) fn new(limits: &Limits) -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(limits.idle);
        // Whoever may come back for an answer finds it as long as they are waited for.
        manager.session_config.completed_cache_ttl = limits.patience;
        Self { manager: Arc::new(manager), most: limits.sessions, entering: Mutex::default() }
    }

    pub(super) fn manager(&self) -> &Arc<LocalSessionManager> {
        &self.manager
    }

    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Ends them all.
    pub(super) async fn close(&self) {
        let open: Vec<_> = self.manager.sessions.read().await.keys().cloned().collect();
        for session in open {
            // One that has just ended by itself is as good.
            let _ = self.manager.close_session(&session).await;
        }
    }
}

/// The sessions as one request uses them.
pub(super) struct Entry {
    sessions: Arc<Sessions>,
    refused: AtomicBool,
}

impl Entry {
    pub(super) fn new(sessions: Arc<Sessions>) -> Self {
        Self { sessions, refused: AtomicBool::new(false) }
    }

    /// Whether the request wanted a session and there was no room for it.
    pub(super) fn was_refused(&self) -> bool {
        self.refused.load(Ordering::Acquire)
    }

    fn manager(&self) -> &LocalSessionManager {
        &self.sessions.manager
    }
}

impl SessionManager for Entry {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionsError> {
        let _entering = self.sessions.entering.lock().await;
        if self.manager().sessions.read().await.len() >= self.sessions.most {
            self.refused.store(true, Ordering::Release);
            return Err(SessionsError::Full);
        }
        Ok(self.manager().create_session().await?)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionsError> {
        Ok(self.manager().initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionsError> {
        Ok(self.manager().has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionsError> {
        Ok(self.manager().close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        Ok(self.manager().create_stream(id, message).await?)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionsError> {
        Ok(self.manager().accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        Ok(self.manager().create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        Ok(self.manager().resume(id, last_event_id).await?)
    }
}
