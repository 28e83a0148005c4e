//! The archive of published snapshots, and what a page of the leaderboard says of them.

use domain::id::SnapshotId;
use domain::leaderboard::{DataSet, LeaderboardQuery, PublishedSnapshot};
use leptos::prelude::*;
use leptos_meta::Title;

use crate::api::{self, LeaderboardView};
use crate::components::leaderboard_table::address;
use crate::components::loaded::loaded;
use crate::components::words::{Crumbs, CsrfField, Empty, Time};
use crate::format::{count, plural};

/// Where the archive is.
pub(super) const ARCHIVE: &str = "/leaderboard/snapshots";

/// Where a snapshot is.
fn place(id: SnapshotId) -> String {
    address(&LeaderboardQuery { data: DataSet::Snapshot(id), ..LeaderboardQuery::default() })
}

/// Leads to a snapshot, with its date.
#[component]
pub(super) fn SnapshotLink(snapshot: PublishedSnapshot) -> impl IntoView {
    view! { <a href=place(snapshot.id)>{format!("snapshot {}", snapshot.id)}</a>" of "<Time at=snapshot.at/> }
}

/// The archive.
#[component]
pub fn Snapshots() -> impl IntoView {
    let data = Resource::new(|| (), |()| api::published_snapshots());
    view! { <Title text="Published snapshots"/>{loaded(data, |snapshots| page(snapshots).into_any())} }.into_any()
}

fn page(snapshots: Vec<PublishedSnapshot>) -> impl IntoView {
    let body = if snapshots.is_empty() {
        view! {
            <Empty title="Nothing published yet">
                <p>"Until then every badge is grey: an adjusted verdict is only as good as the rows that it was adjusted for."</p>
                <div class="actions"><Publish/><a class="button" href="/leaderboard">"Look at the leaderboard first"</a></div>
            </Empty>
        }
        .into_any()
    } else {
        list(snapshots).into_any()
    };
    view! {
        <article class="page">
            <header class="page-head">
                <Crumbs links=vec![("/leaderboard".to_owned(), "Leaderboard".to_owned())]/>
                <h1>"Published snapshots"</h1>
                <p class="lead">"Each is the whole leaderboard as it stood at one instant: its rows, and the verdicts adjusted for exactly those rows. It never changes and is never removed, so that badges and texts can refer to it. The hash is that of its document; whoever has the document can check it."</p>
            </header>
            {body}
        </article>
    }
}

fn list(snapshots: Vec<PublishedSnapshot>) -> impl IntoView {
    let row = |snapshot: PublishedSnapshot| {
        view! {
            <tr>
                <th scope="row"><a href=place(snapshot.id)>{format!("Snapshot {}", snapshot.id)}</a></th>
                <td data-label="Published"><Time at=snapshot.at/></td>
                <td class="num" data-label="Rows">{count(u64::from(snapshot.rows))}</td>
                <td data-label="SHA-256"><code class="hash wrap">{snapshot.hash.to_hex()}</code></td>
                <td data-label="Document"><a href=document(snapshot.id) rel="external" download="">"JSON"</a></td>
            </tr>
        }
    };
    view! {
        <Publish/>
        <div class="table-scroll">
            <table class="table table-cards">
                <caption class="visually-hidden">"Published snapshots, newest first"</caption>
                <thead>
                    <tr>
                        <th scope="col">"Snapshot"</th>
                        <th scope="col">"Published"</th>
                        <th scope="col" class="num">"Rows"</th>
                        <th scope="col">"SHA-256"</th>
                        <th scope="col">"Document"</th>
                    </tr>
                </thead>
                <tbody>{snapshots.into_iter().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
}

fn document(id: SnapshotId) -> String {
    format!("{ARCHIVE}/{id}/document")
}

/// The button that publishes the leaderboard as it stands.
#[component]
pub fn Publish() -> impl IntoView {
    view! {
        <form method="post" action="/leaderboard/publish">
            <CsrfField/>
            <button class="button">"Publish the leaderboard as it stands"</button>
        </form>
    }
}

/// What of a page's rows is published, and how.
pub(super) fn standing(view: &LeaderboardView) -> Option<AnyView> {
    match (view.page.query.data, view.shown) {
        (DataSet::Paper, _) => None,
        (DataSet::Snapshot(_), None) => None,
        (DataSet::Own, _) if view.page.all == 0 => None,
        (DataSet::Own, _) => Some(of_now(view.newest).into_any()),
        (DataSet::Snapshot(_), Some(shown)) => Some(of_then(shown, view.newest).into_any()),
    }
}

fn of_now(newest: Option<PublishedSnapshot>) -> impl IntoView {
    let words = match newest {
        Some(newest) => view! {
            "Live: a verdict may change as evaluations are added. To cite, and for badges: "
            <SnapshotLink snapshot=newest/>". "
        }
        .into_any(),
        None => "Live: a verdict may change as evaluations are added. Nothing is published yet, so badges stay grey. "
            .into_any(),
    };
    view! {
        <div class="note snapshot-note">
            <p>{words}<a href=ARCHIVE>"All published snapshots"</a>". One can never be changed or removed."</p>
            <Publish/>
        </div>
    }
}

fn of_then(shown: PublishedSnapshot, newest: Option<PublishedSnapshot>) -> impl IntoView {
    let newer = newest.filter(|newest| newest.id > shown.id).map(|newest| {
        view! { <p><b>"A newer one was published: "</b><SnapshotLink snapshot=newest/>"."</p> }
    });
    view! {
        <div class="note">
            {newer}
            <p>
                {format!("Published snapshot {}, of ", shown.id)}<Time at=shown.at/>
                {format!(", {}: rows and verdicts as they stood then, each adjusted for the rows beside it. ", plural(u64::from(shown.rows), "row", "rows"))}
                <a href=document(shown.id) rel="external" download="">"The document"</a>", SHA-256 "<code class="hash wrap">{shown.hash.to_hex()}</code>
            </p>
        </div>
    }
}
