//! A page's data: waits for it, shows it, or shows why it could not be had.

use leptos::prelude::*;
use leptos_meta::Title;

use crate::AppError;
use crate::components::findings::FindingList;

/// What a page loads.
pub type Loading<T> = Resource<Result<T, AppError>>;

/// Shows `page` of the data once it is there; a skeleton until then, an error page where it cannot be had.
pub fn loaded<T>(data: Loading<T>, page: impl Fn(T) -> AnyView + Clone + Send + Sync + 'static) -> AnyView
where
    T: Clone + Send + Sync + 'static,
{
    view! {
        <Suspense fallback=skeleton>
            {move || {
                let page = page.clone();
                Suspend::new(async move {
                    match data.await {
                        Ok(data) => page(data),
                        Err(error) => error_page(error),
                    }
                })
            }}
        </Suspense>
    }
    .into_any()
}

/// The place of a page that is on its way.
fn skeleton() -> AnyView {
    view! {
        <div class="page skeleton" aria-busy="true">
            <p class="visually-hidden" role="status">"Loading"</p>
            <div class="bone bone-title"></div>
            <div class="bone"></div>
            <div class="bone bone-block"></div>
        </div>
    }
    .into_any()
}

/// Says what happened and what to do next; sets the answer's status.
pub fn error_page(error: AppError) -> AnyView {
    set_status(error.status());
    let findings = match &error {
        AppError::Invalid { findings, .. } => findings.clone(),
        _ => Vec::new(),
    };
    let retry = matches!(error, AppError::Outdated | AppError::Unreachable { .. } | AppError::Internal { .. });
    view! {
        <Title text=error.title()/>
        <article class="page error-page">
            <p class="overline">"Error " {error.status()}</p>
            <h1>{error.title()}</h1>
            <p class="lead">{sentence(&error.to_string())}</p>
            <FindingList findings=findings/>
            <p class="actions">
                {retry.then(|| view! { <a class="button primary" href="" rel="external">"Load again"</a> })}
                <a class="button" href="/">"To the first page"</a>
            </p>
        </article>
    }
    .into_any()
}

/// A message as a sentence: capital first letter, full stop.
pub fn sentence(message: &str) -> String {
    let mut chars = message.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if message.ends_with(['.', '?', ':']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

/// Sets the HTTP status of the page that is being rendered; nothing in the browser.
pub fn set_status(status: u16) {
    #[cfg(feature = "ssr")]
    if let (Some(response), Ok(status)) =
        (use_context::<leptos_axum::ResponseOptions>(), axum::http::StatusCode::from_u16(status))
    {
        response.set_status(status);
    }
    #[cfg(not(feature = "ssr"))]
    let _ = status;
}
