//! Texts of a definition, filled in: `{unit.id}`, `{unit.title}`, `{CHILD.title}`, `{STAGE.FACT}`, `{input.NAME}`.

use super::{
    input::Item,
    scene::Scene,
    state::{Frame, Run},
};
use crate::{
    expr::{Env, Name},
    workflow::{FactIx, Owner, ScopeIx},
};

/// The text with everything between braces filled in, as seen from a frame. What nobody knows is a question mark, and
/// braces around anything else stay as they are.
pub(super) fn fill(run: &Run, frame: &Frame, text: &str) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let inside = after.split_once('}').filter(|(inside, _)| is_dotted(inside));
        let Some((inside, behind)) = inside else {
            filled.push('{');
            rest = after;
            continue;
        };
        let (owner, part) = inside.split_once('.').unwrap_or((inside, ""));
        filled.push_str(&value(run, frame, owner, part).unwrap_or_else(|| "?".to_owned()));
        rest = behind;
    }
    filled + rest
}

/// Two names with a dot between them.
fn is_dotted(text: &str) -> bool {
    let name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
    };
    text.split_once('.').is_some_and(|(owner, part)| name(owner) && name(part))
}

fn value(run: &Run, frame: &Frame, owner: &str, part: &str) -> Option<String> {
    let flow = &run.flow;
    let fact = |owner: Owner| {
        let is_it = |fact: &crate::workflow::Fact| fact.owner == owner && fact.name == part;
        let ix = u16::try_from(flow.facts.iter().position(is_it)?).ok()?;
        Some(Scene::of(run, frame).value(Name::Fact(FactIx(ix)))?.to_string())
    };
    let of_item = |item: &Item| match part {
        "id" => Some(item.id.to_string()),
        "title" => Some(item.title.to_string()),
        _ => None,
    };
    if owner == "unit" {
        let unit = run.unit(frame.unit?)?;
        return of_item(&unit.item).or_else(|| fact(Owner::Item(ScopeIx::UNIT)));
    }
    let scope = flow.scopes.iter().position(|scope| scope.name == owner);
    if let Some(scope) = scope.and_then(|at| u16::try_from(at).ok()).map(ScopeIx) {
        return of_item(child(run, frame, scope)?).or_else(|| fact(Owner::Item(scope)));
    }
    if owner == "input" {
        return run.input_named(part).map(ToString::to_string);
    }
    let stage = flow.stages.iter().zip((0..).map(crate::workflow::StageIx));
    let (_, stage) = stage.into_iter().find(|(stage, _)| stage.name == owner)?;
    fact(Owner::Stage(stage))
}

/// The child that a frame is for.
fn child<'a>(run: &'a Run, frame: &Frame, scope: ScopeIx) -> Option<&'a Item> {
    let own = frame.child.filter(|_| frame.scope == scope)?;
    let parent = run.frame(frame.parent?)?;
    Some(&parent.children.get(&scope)?.get(own as usize)?.item)
}
