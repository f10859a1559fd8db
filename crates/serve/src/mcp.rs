//! The MCP server: what a client can ask, answered from the shelf and the client's session.
//!
//! Invariant: no answer and no error names a skill that the client may not see.

mod completions;
mod elicitation;
mod extension;
mod prompts;
mod resources;
mod tools;

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, ErrorData, ExtensionCapabilities, GetPromptRequestParams, GetPromptResponse,
    Implementation, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::{AbortHandle, spawn_blocking};

use crate::lines::Lines;
use crate::session::Session;
use crate::shelf::Shelf;

const INSTRUCTIONS: &str = "Skills are tested instructions for kinds of tasks. Before a task, look whether one of those that the tool `skill` lists fits, or search with `search_skills`; load it and follow it.";

/// The server's side of one connection.
pub struct Connection {
    shelf: Arc<Shelf>,
    session: Session,
    /// The task that tells the client about changes.
    teller: std::sync::Mutex<Option<AbortHandle>>,
}

impl Connection {
    /// A connection that nothing was asked over yet.
    pub fn new(shelf: Arc<Shelf>) -> Self {
        let session = Session::new(Arc::clone(&shelf));
        Self { shelf, session, teller: std::sync::Mutex::default() }
    }

    /// Does what reads from the disk where nobody else waits for it.
    async fn beside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shelf) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let shelf = Arc::clone(&self.shelf);
        let done = spawn_blocking(move || work(&shelf)).await;
        done.unwrap_or_else(|_| Err(ErrorData::internal_error("the server is ending", None)))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let teller = self.teller.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(teller) = teller.take() {
            teller.abort();
        }
    }
}

/// Serves one client over standard input and output, until it is gone.
pub async fn serve_stdio(shelf: Arc<Shelf>) {
    let (read, write) = rmcp::transport::io::stdio_pipes();
    serve_lines(shelf, read, write).await;
}

/// Serves one client over a reader and a writer, until it is gone.
pub async fn serve_lines(
    shelf: Arc<Shelf>,
    read: impl AsyncRead + Unpin + Send + 'static,
    write: impl AsyncWrite + Unpin + Send + 'static,
) {
    // A client that leaves before it has begun is no error.
    if let Ok(running) = Connection::new(shelf).serve(Lines::new(read, write)).await {
        let _ = running.waiting().await;
    }
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        let mut settings = JsonObject::new();
        settings.insert("directoryRead".to_owned(), json!(true));
        let mut extensions = ExtensionCapabilities::new();
        extensions.insert(extension::NAME.to_owned(), settings);
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_completions()
            .enable_extensions_with(extensions)
            .build();
        let mut info = ServerConfig::new(capabilities).with_instructions(INSTRUCTIONS);
        info.server_info = Implementation::new("skillful", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(self.tools())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.call(request, &context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        self.beside(|shelf| resources::listed(shelf, cursor)).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.resource(request, &context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.prompts(request.and_then(|request| request.cursor))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.prompt(request, &context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.beside(move |shelf| Ok(completions::completed(shelf, &request))).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let extended = self.beside(move |shelf| extension::extended(shelf, &request)).await;
        extended.map(CustomResult::new)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut changes = self.shelf.changes();
        let peer = context.peer;
        let teller = tokio::spawn(async move {
            while changes.changed().await.is_ok() {
                // A client that is gone hears nothing.
                let _ = peer.notify_tool_list_changed().await;
                let _ = peer.notify_resource_list_changed().await;
                let _ = peer.notify_prompt_list_changed().await;
            }
        });
        let mut current = self.teller.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(earlier) = current.replace(teller.abort_handle()) {
            earlier.abort();
        }
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        accepted.resource_subscriptions = None;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.shelf.changes();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = changes.changed() => {
                    if changed.is_err() {
                        return Ok(());
                    }
                    let _ = context.sink().notify_tool_list_changed().await;
                    let _ = context.sink().notify_resource_list_changed().await;
                    let _ = context.sink().notify_prompt_list_changed().await;
                }
            }
        }
    }
}

/// The part of a list that a cursor asks for, and the cursor for the next one.
fn page<T>(
    all: Vec<T>,
    cursor: Option<String>,
    size: usize,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let start = match cursor {
        None => 0,
        Some(cursor) => match cursor.parse::<usize>() {
            Ok(start) if start <= all.len() => start,
            _ => return Err(ErrorData::invalid_params("the cursor is not one of this list", None)),
        },
    };
    let next = (all.len() - start > size).then(|| (start + size).to_string());
    Ok((all.into_iter().skip(start).take(size).collect(), next))
}
