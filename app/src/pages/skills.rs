//! Skills: the list, and the way in.

use domain::listing::SkillListing;
use leptos::attr::custom::custom_attribute;
use leptos::prelude::*;
use leptos_meta::Title;

use crate::api::{self, SkillsView};
use crate::components::findings::FindingNumbers;
use crate::components::loaded::loaded;
use crate::components::words::{CsrfField, Empty, Time};
use crate::format::count;

/// The list of skills.
#[component]
pub fn Skills() -> impl IntoView {
    let data = Resource::new(|| (), |()| api::skills());
    view! { <Title text="Skills"/>{loaded(data, |skills| page(skills).into_any())} }.into_any()
}

fn page(SkillsView { skills, upload_limit }: SkillsView) -> impl IntoView {
    view! {
        <article class="page">
            <header class="page-head">
                <h1>"Skills"</h1>
                <p class="lead">"A skill is a folder with a SKILL.md that an agent finds and reads. The same bytes give the same version; new bytes a new version."</p>
            </header>
            <UploadForms limit=Some(upload_limit)/>
            <section class="section">
                <h2>{format!("All skills ({})", count(skills.len() as u64))}</h2>
                {if skills.is_empty() {
                    view! { <Empty title="No skills yet"><p>"Upload one above: it will stand here with its versions and findings."</p></Empty> }.into_any()
                } else {
                    table(skills).into_any()
                }}
            </section>
        </article>
    }
}

/// Three plain forms: files (a zip, a `.skill`, a `SKILL.md`), a folder, which browsers choose by an input of its own, and a repository.
#[component]
pub fn UploadForms(
    /// Largest upload, in bytes, where it is known.
    limit: Option<u64>,
) -> impl IntoView {
    let limit = limit.filter(|bytes| *bytes > 0).map(|bytes| {
        view! { <p class="hint upload-limit">{format!("At most {} MB at once.", bytes >> 20)}</p> }
    });
    let folder = custom_attribute("webkitdirectory", "");
    view! {
        <section class="upload" aria-label="Upload">
            <form class="upload-form" method="post" action="/skills/upload" enctype="multipart/form-data">
                <CsrfField/>
                <label class="label" for="upload-files">"A zip, a .skill file or a SKILL.md"</label>
                <input id="upload-files" class="file" type="file" name="file" multiple=true required=true accept=".zip,.skill,.md"/>
                <button class="button primary">"Upload and check"</button>
            </form>
            <form class="upload-form" method="post" action="/skills/upload" enctype="multipart/form-data">
                <CsrfField/>
                <label class="label" for="upload-folder">"A folder with one or more skills"</label>
                <input id="upload-folder" class="file" type="file" name="file" multiple=true required=true {..folder}/>
                <button class="button">"Upload folder and check"</button>
            </form>
            <form class="upload-form" method="post" action="/skills/fetch">
                <CsrfField/>
                <label class="label" for="fetch-address">"A git repository"</label>
                <input id="fetch-address" class="input mono" name="address" required=true autocomplete="off" spellcheck="false"
                    placeholder="https://host/owner/name@commit#folder"/>
                <button class="button">"Fetch and check"</button>
            </form>
            {limit}
        </section>
    }
}

fn table(skills: Vec<SkillListing>) -> impl IntoView {
    view! {
        <div class="table-scroll">
            <table class="table table-cards">
                <thead>
                    <tr>
                        <th scope="col">"Skill"</th>
                        <th scope="col">"Newest version"</th>
                        <th scope="col" class="num">"Versions"</th>
                        <th scope="col">"Findings"</th>
                        <th scope="col">"Added"</th>
                    </tr>
                </thead>
                <tbody>{skills.into_iter().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
}

fn row(skill: SkillListing) -> impl IntoView {
    view! {
        <tr class="row-link">
            <th scope="row" class="cell-title">
                <a href=format!("/skills/{}", skill.id)>{skill.name}</a>
                <span class="quiet block clamp">{skill.description}</span>
            </th>
            <td data-label="Newest version"><code class="hash">{skill.version.short()}</code></td>
            <td data-label="Versions" class="num">{skill.versions}</td>
            <td data-label="Findings"><FindingNumbers counts=skill.findings/></td>
            <td data-label="Added"><Time at=skill.created_at/></td>
        </tr>
    }
}
