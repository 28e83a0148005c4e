//! Values of the server's machine that a task's verifier asks for, on the task's page: what giving one means, and a person's approval.

use domain::approval::AskedVariable;
use domain::id::TaskId;
use domain::task::ResultPlace;
use leptos::prelude::*;

use crate::components::icon::{Icon, Sign};
use crate::components::words::{CsrfField, Time};

/// The section; nothing where the verifier asks for no variable.
#[component]
pub fn VariableSection(task: TaskId, asked: Vec<AskedVariable>, judged_in: ResultPlace) -> impl IntoView {
    let place = match judged_in {
        ResultPlace::Anywhere => {
            " It runs in the container that the agent worked in: a program that the agent left there could read it too."
        }
        ResultPlace::Workspace { .. } | ResultPlace::Artifacts { .. } => {
            " It runs in a container of its own, on the files that the agent left: a test that starts one of them hands it on."
        }
    };
    (!asked.is_empty()).then(|| {
        view! {
            <section class="section" id="variables">
                <h2>"Secrets the verifier asks for"</h2>
                <div class="caution">
                    <Icon sign=Sign::Warning/>
                    <p>
                    <strong>"Approve only a key made for this purpose, that may be lost. "</strong>
                    "The value is taken from the environment of this server and given to the verifier's program alone, after the agent's processes have ended. It is taken out of logs, results and exports wherever it stands as it is, line by line, or escaped as in JSON or Python; nothing keeps a test script from sending it where its network reaches, or from printing it in another form."
                    {place}
                    " An approval holds for this version of the task; a changed task asks again."
                    </p>
                </div>
                <div class="table-scroll">
                    <table class="table table-cards">
                        <thead><tr><th scope="col">"Variable"</th><th scope="col">"Without it"</th><th scope="col">"On this server"</th><th scope="col">"Approval"</th></tr></thead>
                        <tbody>{asked.into_iter().map(|variable| row(task, variable)).collect_view()}</tbody>
                    </table>
                </div>
            </section>
        }
    })
}

fn row(task: TaskId, variable: AskedVariable) -> impl IntoView {
    let AskedVariable { name, has_default, approved_at, withheld, tasks_in_folder, is_closed } = variable;
    let without = if has_default { "the task's own default is used" } else { "no run is started" };
    let here = match withheld {
        None => {
            view! { <span class="state state-pass"><Icon sign=Sign::Pass/><span>"has a value"</span></span> }.into_any()
        }
        Some(why) => view! {
            <span class="state state-fail"><Icon sign=Sign::Warning/><span>"cannot be given"</span></span>
            <span class="quiet block">{why.in_words(&name)}</span>
        }
        .into_any(),
    };
    let (action, words) = match approved_at {
        None => ("approve", "Approve"),
        Some(_) => ("withdraw", "Withdraw"),
    };
    let folder = (tasks_in_folder > 1).then(|| {
        let words = format!("{words} for all {tasks_in_folder} tasks of its folder that ask for it");
        view! { <button class="button" name="scope" value="folder">{words}</button> }
    });
    let at = approved_at.map(|at| view! { <span class="block">"approved "<Time at=at/></span> });
    let choice = if is_closed && approved_at.is_none() {
        view! { <span class="quiet">"not on a server that other machines can reach (remote_approvals in its settings)"</span> }
            .into_any()
    } else {
        view! {
            <form class="variable-form" method="post" action=format!("/tasks/{task}/{action}")>
                <CsrfField/>
                <input type="hidden" name="variable" value=name.clone()/>
                <button class="button" name="scope" value="task">{format!("{words} for this task")}</button>
                {folder}
            </form>
        }
        .into_any()
    };
    view! {
        <tr>
            <th scope="row" class="cell-title"><code>{name}</code></th>
            <td data-label="Without it">{without}</td>
            <td data-label="On this server" class="wrap">{here}</td>
            <td data-label="Approval">
                {at}
                {choice}
            </td>
        </tr>
    }
}
