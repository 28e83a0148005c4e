//! Ids out of a page's address.

use std::str::FromStr;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

/// The part `name` of the address, as long as it can be read.
pub fn part<T>(name: &'static str) -> Memo<Option<T>>
where
    T: FromStr + PartialEq + Send + Sync + 'static,
{
    let params = use_params_map();
    Memo::new(move |_| params.with(|params| params.get_str(name).and_then(|text| text.parse().ok())))
}
