//! Answers over HTTP/2 that end with their head. Nothing in such a head needs to tell that no body follows, and Pingora shows a
//! filter of bodies none of it; it tells its modules.

use std::any::Any;
use std::sync::LazyLock;

use async_trait::async_trait;
use http::header::TRANSFER_ENCODING;
use pingora::http::ResponseHeader;
use pingora::modules::http::{HttpModule, HttpModuleBuilder, HttpModules, Module};
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};

static MODULES: LazyLock<HttpModules> = LazyLock::new(|| {
    let mut modules = HttpModules::new();
    modules.add_module(Box::new(Guard));
    modules
});

/// Makes a failure of the try of an answer that speaks of a body and has none. Only answers over HTTP/2 need it.
pub fn refuse(session: &mut Session) {
    session.downstream_modules_ctx = MODULES.build_ctx();
}

struct Guard;

impl HttpModuleBuilder for Guard {
    fn init(&self) -> Module {
        Box::new(Self)
    }
}

#[async_trait]
impl HttpModule for Guard {
    async fn response_header_filter(&mut self, head: &mut ResponseHeader, end: bool) -> Result<()> {
        if end && head.headers.contains_key(TRANSFER_ENCODING) {
            return Err(Error::explain(ErrorType::ReadError, "the provider's answer has no body").into_up());
        }
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
