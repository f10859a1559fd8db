use super::*;
use crate::corpus;

#[test]
fn real_requests_find_their_skills() {
    let Some(queries) = corpus::queries() else { return };
    let files = corpus::files();
    let options =
        crate::metadata::ReadOptions { mode: crate::metadata::Mode::Lenient, ..Default::default() };
    let metadata: Vec<_> = files
        .iter()
        .filter_map(|(path, bytes)| {
            let (yaml, _) = crate::frontmatter::split_whole(bytes, &options.limits).ok()?;
            crate::metadata::Metadata::read(
                std::str::from_utf8(&bytes[yaml]).ok()?,
                path.rsplit('/').nth(1)?,
                &options,
            )
            .ok()
        })
        .collect();
    let documents: Vec<Document<'_>> =
        metadata.iter().map(|m| Document { name: &m.name, description: &m.description }).collect();
    let index = SearchIndex::build(&documents, 0);
    let (mut first, mut ten, mut fifty) = (0, 0, 0);
    for (query, relevant) in &queries {
        let ranked = index.rank(query);
        let place = ranked
            .iter()
            .position(|(at, _)| relevant.iter().any(|name| name == documents[*at].name));
        first += usize::from(place == Some(0));
        ten += usize::from(place.is_some_and(|p| p < 10));
        fifty += usize::from(place.is_some_and(|p| p < 50));
    }
    assert!(
        (first, ten, fifty) >= (17, 19, 21),
        "found first {first}, among ten {ten}, among fifty {fifty} of {}",
        queries.len()
    );
}

fn tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for_each_token(text, |token| found.push(token.to_owned()));
    found
}

#[test]
fn words_are_stemmed_identifiers_kept_and_unspaced_languages_cut() {
    assert_eq!(tokens("Summarising summaries"), ["summaris", "summari"]);
    assert_eq!(tokens("read_file .csv"), ["read_file", "read", "file", ".csv", "csv"]);
    assert_eq!(tokens("数据分析"), ["数据", "据分", "分析"]);
    assert_eq!(tokens("the data of"), ["data"]);
    assert_eq!(tokens("The a of"), ["the", "a", "of"], "where there is nothing else");
    assert_eq!(tokens(" - "), Vec::<String>::new());
}

#[test]
fn a_skill_of_common_words_alone_is_found_by_them() {
    let documents = [
        Document { name: "use", description: "Use it when you want to." },
        Document { name: "other", description: "Use it for reports." },
    ];
    let index = SearchIndex::build(&documents, 0);
    let ranked = |query: &str| index.rank(query).into_iter().map(|hit| hit.0).collect::<Vec<_>>();
    assert_eq!(ranked("Use"), [0]);
    assert_eq!(ranked("when to use it"), [0]);
    assert_eq!(ranked("use reports"), [1], "common words tell nothing beside others");
    assert_eq!(why("Use", documents[0]), "name: use; description: use");
}

#[test]
fn an_index_is_read_back_as_it_was() {
    let documents = [
        Document { name: "a", description: "one two" },
        Document { name: "b", description: "two" },
    ];
    let index = SearchIndex::build(&documents, 7);
    let (terms, postings) = index.encode().unwrap();
    assert_eq!(SearchIndex::decode(&terms, postings), Some(index.clone()));
    assert_eq!(index.rank("two").len(), 2);
    assert_eq!(index.rank("one")[0].0, 0);
}
