//! What the pretended Linear refuses, as the real one does by its schema.

use serde_json::{Value, json};
use windlass_testkit::plain::{Asked, Given};

use super::{Linear, NewIssue, schema};
use crate::fault::Fault;

fn linear() -> Linear {
    let linear = Linear::start().unwrap();
    linear.issue(&NewIssue::default());
    linear
}

/// Asks, and says how: the status, and the answer.
fn ask(linear: &Linear, key: &str, query: &str, variables: &Value) -> (u16, Value) {
    let body = json!({"query": query, "variables": variables}).to_string();
    let headers = vec![("authorization".to_owned(), key.to_owned())];
    let (method, path) = ("POST".to_owned(), "/graphql".to_owned());
    match linear.answer(&Asked { method, path, headers, body: body.into_bytes() }) {
        Given::Answer { status, body, .. } => {
            (status, serde_json::from_slice(&body).unwrap_or_default())
        }
        other => panic!("{other:?}"),
    }
}

fn refusal(linear: &Linear, query: &str, variables: &Value) -> String {
    let (_, answer) = ask(linear, "test-key", query, variables);
    answer["errors"][0]["message"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[test]
fn what_the_schema_does_not_have_is_refused_and_nothing_is_done() {
    let linear = linear();
    let update = |rest: &str| format!("mutation {{ issueUpdate(id: \"MB90-1\", {rest} }}");
    for wrong in [
        "{ viewer { nickname } }".to_owned(),
        "{ issue { title } }".to_owned(),
        "{ issues(filter: { status: { eq: \"Done\" } }) { nodes { id } } }".to_owned(),
        "{ issues(first: \"ten\") { nodes { id } } }".to_owned(),
        "{ viewer".to_owned(),
        update("input: { status: \"x\" }) { success }"),
        update("input: { title: 4 }) { success }"),
        update("input: { title: \"x\" })"),
        update("input: { title: \"x\" }) { success { deep } }"),
        "mutation { issueCreate(input: { title: \"no team\" }) { success } }".to_owned(),
        "mutation M($input: IssueUpdateInput!) { issueUpdate(id: \"a\", input: $inptu) { success } }"
            .to_owned(),
    ] {
        let (status, answer) = ask(&linear, "test-key", &wrong, &Value::Null);
        assert_eq!(status, 400, "{wrong}: {answer}");
        assert_eq!(answer["errors"][0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED");
    }
    let typed =
        "mutation M($input: CommentCreateInput!) { commentCreate(input: $input) { success } }";
    for variables in [
        json!({}),
        json!({"input": null}),
        json!({"input": {"isueId": "MB90-1", "body": "x"}}),
        json!({"input": {"issueId": "MB90-1", "body": ["x"]}}),
    ] {
        assert_eq!(ask(&linear, "test-key", typed, &variables).0, 400, "{variables}");
    }
    assert!(linear.writes().is_empty());
}

#[test]
fn what_is_in_the_schema_and_not_pretended_is_an_error() {
    let linear = linear();
    let no = |query: &str| refusal(&linear, query, &Value::Null);
    assert_eq!(no("{ issues { nodes { dueDate } } }"), "Issue.dueDate is not pretended here");
    let say =
        "mutation { commentCreate(input: { issueId: \"MB90-1\", body: \"x\", quotedText: \"y\" })";
    assert_eq!(no(&format!("{say} {{ success }} }}")), "quotedText is not pretended here");
    let filter = "{ issues(filter: { snoozedBy: { null: true } }) { nodes { id } } }";
    assert_eq!(no(filter), "no Issue is filtered by its snoozedBy here");
    assert_eq!(no("{ issues(last: 2) { nodes { id } } }"), "last is not pretended here");
    assert_eq!(no("{ issues(first: 251) { nodes { id } } }"), "first is to be between 1 and 250");
    assert!(linear.writes().is_empty());
}

#[test]
fn an_id_is_given_once_even_if_what_had_it_is_gone() {
    let linear = linear();
    let say = "mutation M($id: String) {
        commentCreate(input: { id: $id, issueId: \"MB90-1\", body: \"x\" }) { comment { id } }
    }";
    let id = "01234567-89ab-4def-8123-456789abcdef";
    let with = |id: &str| json!({"id": id});
    let (_, said) = ask(&linear, "test-key", say, &with(id));
    assert_eq!(said["data"]["commentCreate"]["comment"]["id"], id);
    assert_eq!(refusal(&linear, say, &with(id)), "Conflict on insert of Comment: the id is taken");
    let unsay = "mutation M($id: String!) { commentDelete(id: $id) { success } }";
    let (_, others) = ask(&linear, "ada-key", unsay, &with(id));
    assert_eq!(others["errors"][0]["message"], "You cannot change what others said");
    assert_eq!(ask(&linear, "test-key", unsay, &with(id)).1["errors"], Value::Null);
    assert_eq!(refusal(&linear, say, &with(id)), "Conflict on insert of Comment: the id is taken");
    for odd in
        ["0", "01234567-89ab-1def-8123-456789abcdef", "0123456789ab-4def-8123-456789abcdefab"]
    {
        assert_eq!(refusal(&linear, say, &with(odd)), "id must be a UUID of version 4");
    }
    let what: Vec<_> = linear.writes().into_iter().map(|write| write.what).collect();
    assert_eq!(what, ["commentCreate", "commentDelete"]);
}

#[test]
fn lists_are_turned_page_by_page_the_newest_first() {
    let linear = linear();
    for _ in 0..4 {
        linear.issue(&NewIssue::default());
    }
    let query = "query Q($after: String) {
        issues(first: 2, after: $after) { nodes { identifier } pageInfo { hasNextPage endCursor } }
    }";
    let (mut after, mut seen) = (Value::Null, Vec::new());
    loop {
        let (_, answer) = ask(&linear, "test-key", query, &json!({"after": after}));
        let page = &answer["data"]["issues"];
        for node in page["nodes"].as_array().unwrap() {
            seen.push(node["identifier"].as_str().unwrap().to_owned());
        }
        // What comes meanwhile is in front.
        linear.issue(&NewIssue::default());
        if page["pageInfo"]["hasNextPage"] == json!(false) {
            break;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
    assert_eq!(seen, ["MB90-5", "MB90-4", "MB90-3", "MB90-2", "MB90-1"]);
}

#[test]
fn filters_mean_what_they_say() {
    let linear = linear();
    linear.issue(&NewIssue { title: "Second", labels: &[], project: None, ..NewIssue::default() });
    let found = |filter: &str| {
        let query = format!("{{ issues(filter: {filter}) {{ nodes {{ number }} }} }}");
        let (_, answer) = ask(&linear, "test-key", &query, &Value::Null);
        let nodes =
            answer["data"]["issues"]["nodes"].as_array().unwrap_or_else(|| panic!("{answer}"));
        nodes.iter().map(|node| node["number"].as_f64().unwrap()).sum::<f64>()
    };
    for (filter, sum) in [
        ("{ title: { eq: \"Second\" } }", 2.0),
        ("{ title: { startsWith: \"Sec\", notContains: \"cond\" } }", 0.0),
        ("{ number: { gt: 1 } }", 2.0),
        ("{ number: { in: [1, 2] } }", 3.0),
        ("{ project: { null: true } }", 2.0),
        ("{ project: { slugId: { eq: \"5eed0f00d1e5\" } } }", 1.0),
        ("{ labels: { some: { name: { eqIgnoreCase: \"READY\" } } } }", 1.0),
        ("{ labels: { every: { name: { eq: \"ready\" } } } }", 3.0),
        ("{ labels: { length: { eq: 0 } } }", 2.0),
        ("{ or: [{ number: { eq: 1 } }, { title: { eq: \"Second\" } }] }", 3.0),
        ("{ and: [{ number: { eq: 1 } }, { title: { eq: \"Second\" } }] }", 0.0),
        ("{ state: { type: { nin: [\"backlog\", \"triage\"] } } }", 0.0),
        ("{ creator: { isMe: { eq: true } } }", 0.0),
    ] {
        assert!((found(filter) - sum).abs() < f64::EPSILON, "{filter}: {}", found(filter));
    }
}

#[test]
fn faults_are_for_operations_and_for_what_they_ask_for() {
    let linear = linear();
    let named = "query Named { viewer { id } }";
    linear.faults().add("Named", Fault::status(502));
    linear.faults().add("viewer", Fault::status(503));
    linear.faults().add("issues", Fault::status(504));
    let statuses = [0; 3].map(|_| ask(&linear, "test-key", named, &Value::Null).0);
    assert_eq!(statuses, [502, 503, 200]);
    assert!(!linear.faults().is_empty());
    assert_eq!(linear.asked(), ["Named", "Named", "Named"]);
}

#[test]
fn a_key_opens_until_it_expires() {
    let linear = linear();
    let me = |key: &str| ask(&linear, key, "{ viewer { name isMe } }", &Value::Null);
    let ada = json!({"viewer": {"name": "Ada", "isMe": true}});
    assert_eq!(me("ada-key"), (200, json!({"data": ada})));
    linear.expire("ada-key");
    let (status, answer) = me("ada-key");
    assert_eq!(
        (status, &answer["errors"][0]["extensions"]["code"]),
        (401, &json!("AUTHENTICATION_ERROR"))
    );
    assert_eq!(me("").0, 401);
    assert_eq!(me("Bearer test-key").0, 401);
    assert_eq!(me("test-key").0, 200);
}

#[test]
fn who_asks_for_too_much_at_once_is_refused() {
    let cost = |query: &str, variables: &Value| {
        let variables = serde_json::from_str(&variables.to_string()).unwrap();
        schema::cost(&schema::check(query).unwrap(), &variables)
    };
    assert!((cost("{ viewer { id name } }", &json!({})) - 1.2).abs() < 1e-9);
    let list = "query Q($n: Int) { issues(first: $n) { nodes { id ...More } } }
        fragment More on Issue { labels { nodes { name } } }";
    // Fifty labels of a point and a tenth; an issue with its id.
    assert!((cost(list, &json!({"n": 10})) - 10.0 * (1.1 + 55.0)).abs() < 1e-9);
    let linear = linear();
    assert_eq!(ask(&linear, "test-key", list, &json!({"n": 250})).0, 400);
    assert_eq!(ask(&linear, "test-key", list, &json!({"n": 100})).0, 200);
}
