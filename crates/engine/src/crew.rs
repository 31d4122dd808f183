//! Who is asked: which agents play a role and in which order, with which model, on whose account.
//!
//! A role names its tier: a post of the crew (planner, executor, advisor, evaluator, verifier), or how strong a model it
//! wants. The configuration says who plays a role or fills a post; a preset says how strong a model each post has.

use std::collections::BTreeMap;

use windlass_agents::{Post, Tier};

use crate::role::Role;

/// Stands for every role that is not named.
pub const ANY: &str = "default";

/// Who is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crew {
    /// The agents that there are, each with the word of its kind.
    pub agents: BTreeMap<String, String>,
    /// Who plays a role, in the order in which they take over from one another; [`ANY`] is for all others.
    pub roles: BTreeMap<String, Vec<String>>,
    /// Who fills a post.
    pub posts: BTreeMap<Post, Seat>,
    /// How strong a model each post has.
    pub preset: Option<Preset>,
    /// The account of each agent; one that is not named has its own.
    pub accounts: BTreeMap<String, String>,
    /// How many may work on an account at once.
    pub at_once: BTreeMap<String, usize>,
}

/// Who fills a post, and with what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seat {
    /// Agents, in the order in which they take over from one another; whoever plays all other roles, if there is none.
    pub agents: Vec<String>,
    /// The model.
    pub model: Option<Model>,
    /// How hard it is to think.
    pub effort: Option<String>,
}

/// A model, as a person says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Model {
    /// By how strong it is.
    Strength(Tier),
    /// By its name.
    Named(String),
}

impl Model {
    /// `strong`, `standard` and `fast`, or the names that presets were first given in, or any other name.
    pub fn parse(word: &str) -> Model {
        match strength(word) {
            Some(tier) => Model::Strength(tier),
            None => Model::Named(word.to_owned()),
        }
    }
}

fn strength(word: &str) -> Option<Tier> {
    match word {
        "opus" => Some(Tier::Strong),
        "sonnet" => Some(Tier::Standard),
        "haiku" => Some(Tier::Fast),
        other => Tier::named(other),
    }
}

/// How strong a model each post has; a post that is not named has what suits the role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preset {
    /// As it was written.
    pub name: String,
    posts: BTreeMap<Post, Tier>,
}

/// The presets that have a name: executor, advisor, evaluator. Whoever verifies has a fast one in all of them.
const PRESETS: [(&str, Option<[Tier; 3]>); 4] = [
    ("default", None),
    ("all-opus", Some([Tier::Strong, Tier::Strong, Tier::Strong])),
    ("balanced", Some([Tier::Standard, Tier::Strong, Tier::Strong])),
    ("economy", Some([Tier::Fast, Tier::Standard, Tier::Standard])),
];

impl Preset {
    /// A preset by its name, or three models as in `executor:sonnet,advisor:opus,evaluator:opus`; what is left out there
    /// is as in `balanced`.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Preset, String> {
        if let Some((_, models)) = PRESETS.iter().find(|(name, _)| *name == text) {
            return Ok(Preset::of(text, *models));
        }
        let known = PRESETS.map(|(name, _)| name).join(", ");
        if !text.contains(':') {
            return Err(format!(
                "`{text}` is no preset: there are {known}, or three models as in `executor:sonnet,advisor:opus,evaluator:opus`"
            ));
        }
        let mut preset = Preset::of(text, PRESETS[2].1);
        for part in text.split(',') {
            let (post, model) = part.split_once(':').unwrap_or((part, ""));
            let three = [Post::Executor, Post::Advisor, Post::Evaluator];
            let post = Post::named(post.trim()).filter(|post| three.contains(post));
            let post = post.ok_or_else(|| {
                format!("`{part}` names no post: there are executor, advisor, evaluator")
            })?;
            let tier = strength(model.trim()).ok_or_else(|| {
                format!("`{}` is no model of a preset: there are opus, sonnet, haiku", model.trim())
            })?;
            preset.fill(post, tier);
        }
        Ok(preset)
    }

    fn of(name: &str, models: Option<[Tier; 3]>) -> Preset {
        let mut preset = Preset { name: name.to_owned(), posts: BTreeMap::new() };
        if let Some([executor, advisor, evaluator]) = models {
            preset.fill(Post::Executor, executor);
            preset.fill(Post::Advisor, advisor);
            preset.fill(Post::Evaluator, evaluator);
        }
        preset.fill(Post::Verifier, Tier::Fast);
        preset
    }

    fn fill(&mut self, post: Post, tier: Tier) {
        self.posts.insert(post, tier);
        // Whoever plans gives advice, too.
        if post == Post::Advisor {
            self.posts.insert(Post::Planner, tier);
        }
    }
}

/// Who is to be asked, and with what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Agents, in the order in which they take over from one another.
    pub agents: Vec<String>,
    /// Which of an agent's models is meant.
    pub tier: Tier,
    /// The crew says so, not the role.
    pub by_preset: bool,
    /// The very model.
    pub model: Option<String>,
    /// Whose model that is; anybody's, if this is empty.
    pub seated: Vec<String>,
    /// How hard to think.
    pub effort: Option<String>,
}

impl Call {
    /// The very model that an agent is to use, if there is one and it is the agent's.
    pub(crate) fn model_of(&self, agent: &str) -> Option<&str> {
        let own = self.seated.is_empty() || self.seated.iter().any(|seated| seated == agent);
        self.model.as_deref().filter(|_| own)
    }
}

impl Crew {
    /// The agents that a workflow means: the one of that name, or all of that kind. Nobody, if there is none.
    pub fn named(&self, name: &str) -> Vec<String> {
        if self.agents.contains_key(name) {
            return vec![name.to_owned()];
        }
        let of_kind = self.agents.iter().filter(|(_, kind)| *kind == name);
        of_kind.map(|(own, _)| own.clone()).collect()
    }

    /// How many may work at once where an agent works, if somebody says.
    pub(crate) fn at_once_of(&self, agent: &str) -> Option<usize> {
        let account = self.accounts.get(agent).map_or(agent, String::as_str);
        self.at_once.get(account).copied()
    }

    /// Which of the words of a stage, between `|`, is about somebody who is there: an agent, a kind, or `not ROLE`, which is an
    /// agent that is not the one who plays that role, of another kind if there is one. Who is named for the role itself is meant
    /// before that.
    pub fn meant(
        &self,
        words: &str,
        (name, role): (&str, &Role),
        played: impl Fn(&str) -> Role,
    ) -> Option<String> {
        let filled = role.post.and_then(|post| self.posts.get(&post));
        let is_named = self.roles.get(name).is_some_and(|agents| !agents.is_empty())
            || filled.is_some_and(|seat| !seat.agents.is_empty());
        words.split('|').map(str::trim).find_map(|word| match word.strip_prefix("not ") {
            Some(_) if is_named => None,
            Some(other) => {
                let call = self.call(other, &played(other), None)?;
                self.unlike(call.agents.first()?)
            }
            None => Some(word.to_owned()).filter(|word| !self.named(word).is_empty()),
        })
    }

    /// Another agent than one, of another kind if there is one.
    fn unlike(&self, one: &str) -> Option<String> {
        let kind = self.agents.get(one);
        let others = || self.agents.iter().filter(|(name, _)| *name != one);
        let of_another = others().find(|(_, own)| Some(*own) != kind);
        of_another.or_else(|| others().next()).map(|(name, _)| name.clone())
    }

    /// Who plays a role: whom the stage wants, if they are there, then whom the configuration names for the role, or for its
    /// post, or for all.
    pub fn call(&self, name: &str, role: &Role, wanted: Option<&str>) -> Option<Call> {
        let seat = role.post.and_then(|post| self.posts.get(&post));
        let of_role = |name: &str| self.roles.get(name).filter(|agents| !agents.is_empty());
        let of_post = || seat.map(|seat| &seat.agents).filter(|agents| !agents.is_empty());
        let mut agents = wanted.map(|wanted| self.named(wanted)).unwrap_or_default();
        let others = of_role(name).or_else(of_post).or_else(|| of_role(ANY));
        for other in others.into_iter().flatten() {
            if !agents.contains(other) {
                agents.push(other.clone());
            }
        }
        if agents.is_empty() {
            return None;
        }
        let preset = || self.preset.as_ref()?.posts.get(&role.post?).copied();
        let (tier, model) = match seat.and_then(|seat| seat.model.as_ref()) {
            Some(Model::Strength(tier)) => (Some(*tier), None),
            Some(Model::Named(model)) => (None, Some(model.clone())),
            None => (preset(), None),
        };
        Some(Call {
            agents,
            by_preset: tier.is_some(),
            tier: tier.unwrap_or(role.tier),
            model,
            seated: of_post().cloned().unwrap_or_default(),
            effort: seat.and_then(|seat| seat.effort.clone()),
        })
    }

    /// The account that an agent works on.
    pub fn account<'a>(&'a self, agent: &'a str) -> &'a str {
        self.accounts.get(agent).map_or(agent, String::as_str)
    }

    /// What a person should know about what it costs: somebody verifies with more than it takes.
    pub fn dear_verifier(&self) -> Option<String> {
        let model = match &self.posts.get(&Post::Verifier)?.model {
            Some(Model::Strength(Tier::Fast)) | None => return None,
            Some(Model::Strength(tier)) => tier.name(),
            Some(Model::Named(model)) => model,
        };
        Some(format!(
            "the verifier has the model `{model}`: it runs commands and reads what they exit with, and a fast one costs less"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(post: Option<Post>) -> Role {
        let tier = post.map_or(Tier::Strong, Post::usual);
        Role { post, tier, ..Role::plain("r", "") }
    }

    fn tiers(preset: &str) -> String {
        let crew = Crew {
            roles: [(ANY.to_owned(), vec!["a".to_owned()])].into(),
            preset: Some(Preset::parse(preset).unwrap()),
            ..Crew::default()
        };
        let of = |post| {
            let call = crew.call("r", &role(Some(post)), None).unwrap();
            let own = if call.by_preset { "" } else { " (its own)" };
            format!("{} {}{own}", post.name(), call.tier.name())
        };
        Post::ALL.map(of).join(", ")
    }

    #[test]
    fn presets_are_those_of_the_seed() {
        assert_eq!(
            tiers("default"),
            "planner strong (its own), executor standard (its own), advisor strong (its own), \
             evaluator strong (its own), verifier fast"
        );
        assert_eq!(
            tiers("all-opus"),
            "planner strong, executor strong, advisor strong, evaluator strong, verifier fast"
        );
        assert_eq!(
            tiers("balanced"),
            "planner strong, executor standard, advisor strong, evaluator strong, verifier fast"
        );
        assert_eq!(
            tiers("economy"),
            "planner standard, executor fast, advisor standard, evaluator standard, verifier fast"
        );
        assert_eq!(
            tiers("executor:opus, evaluator:haiku"),
            "planner strong, executor strong, advisor strong, evaluator fast, verifier fast",
            "the rest is as in balanced"
        );
        for (text, why) in [
            ("cheap", "no preset"),
            ("executor:gpt", "`gpt` is no model"),
            ("verifier:opus", "no post"),
            ("executor:opus,", "no post"),
        ] {
            let said = Preset::parse(text).unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    #[test]
    fn the_nearest_word_on_who_plays_a_role_counts() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let mut crew = Crew::default();
        let who = |crew: &Crew, wanted| {
            let call = crew.call("worker", &role(Some(Post::Executor)), wanted);
            call.map(|call| call.agents.join(" "))
        };
        assert_eq!(who(&crew, None), None);
        crew.roles.insert(ANY.into(), names(&["any"]));
        assert_eq!(who(&crew, None).as_deref(), Some("any"));
        let seat = Seat { effort: Some("high".into()), ..Seat::default() };
        crew.posts.insert(Post::Executor, seat);
        assert_eq!(who(&crew, None).as_deref(), Some("any"), "a post that says nothing about who");
        crew.posts.get_mut(&Post::Executor).unwrap().agents = names(&["one", "two"]);
        assert_eq!(who(&crew, None).as_deref(), Some("one two"));
        crew.roles.insert("worker".into(), names(&["mine"]));
        assert_eq!(who(&crew, None).as_deref(), Some("mine"));
        assert_eq!(who(&crew, Some("stage")).as_deref(), Some("mine"), "who is not there");
        let kinds = [("stage", "claude"), ("one", "codex"), ("three", "codex")];
        crew.agents = kinds.map(|(name, kind)| (name.to_owned(), kind.to_owned())).into();
        assert_eq!(who(&crew, Some("stage")).as_deref(), Some("stage mine"));
        assert_eq!(who(&crew, Some("codex")).as_deref(), Some("one three mine"), "all of a kind");
        assert_eq!(who(&crew, Some(ANY)).as_deref(), Some("mine"));
        let call = crew.call("other", &role(None), None).unwrap();
        assert_eq!((call.agents, call.tier, call.effort), (names(&["any"]), Tier::Strong, None));
    }

    #[test]
    fn whoever_is_not_the_one_is_another_unless_somebody_was_named() {
        let any = [(ANY.to_owned(), vec!["mine".to_owned()])];
        let kinds = |kinds: &[(&str, &str)]| {
            kinds.iter().map(|(name, kind)| ((*name).to_owned(), (*kind).to_owned())).collect()
        };
        let mut crew = Crew { roles: any.into(), ..Crew::default() };
        let who = |crew: &Crew| {
            let judge = role(Some(Post::Evaluator));
            crew.meant("codex | not worker", ("judge", &judge), |_| role(Some(Post::Executor)))
        };
        crew.agents = kinds(&[("mine", "claude")]);
        assert_eq!(who(&crew), None, "nobody else is there");
        crew.agents = kinds(&[("also", "claude"), ("mine", "claude")]);
        assert_eq!(who(&crew).as_deref(), Some("also"));
        crew.agents = kinds(&[("also", "claude"), ("mine", "claude"), ("other", "api")]);
        assert_eq!(who(&crew).as_deref(), Some("other"), "another kind comes first");
        let seat = |name: &str| Seat { agents: vec![name.to_owned()], ..Seat::default() };
        crew.posts.insert(Post::Executor, seat("other"));
        assert_eq!(who(&crew).as_deref(), Some("also"), "somebody else works");
        crew.posts.insert(Post::Evaluator, seat("mine"));
        assert_eq!(who(&crew), None, "somebody was named for the post");
        crew.posts.remove(&Post::Evaluator);
        crew.roles.insert("judge".into(), vec!["mine".to_owned()]);
        assert_eq!(who(&crew), None, "somebody was named for the role");
        crew.agents.insert("theirs".into(), "codex".into());
        assert_eq!(who(&crew).as_deref(), Some("codex"), "the first word counts first");
    }

    #[test]
    fn a_model_that_is_named_beside_its_agents_is_nobody_elses() {
        let mut crew =
            Crew { agents: [("other".to_owned(), "codex".to_owned())].into(), ..Crew::default() };
        let model = Some(Model::parse("gpt-x"));
        let seat = Seat { agents: vec!["mine".to_owned()], model, ..Seat::default() };
        crew.posts.insert(Post::Evaluator, seat);
        let call = crew.call("judge", &role(Some(Post::Evaluator)), Some("codex")).unwrap();
        assert_eq!(call.agents, ["other", "mine"]);
        assert_eq!((call.model_of("other"), call.model_of("mine")), (None, Some("gpt-x")));
    }

    #[test]
    fn a_model_of_a_post_counts_more_than_a_preset() {
        let mut crew = Crew {
            roles: [(ANY.to_owned(), vec!["a".to_owned()])].into(),
            preset: Some(Preset::parse("economy").unwrap()),
            ..Crew::default()
        };
        let mut of = |model: &str| {
            let model = Some(Model::parse(model));
            crew.posts.insert(Post::Verifier, Seat { model, ..Seat::default() });
            let call = crew.call("v", &role(Some(Post::Verifier)), None).unwrap();
            (call.tier, call.by_preset, call.model, crew.dear_verifier().is_some())
        };
        assert_eq!(of("opus"), (Tier::Strong, true, None, true));
        assert_eq!(of("fast"), (Tier::Fast, true, None, false));
        assert_eq!(of("gpt-x"), (Tier::Fast, false, Some("gpt-x".into()), true));
    }
}
