use super::*;
use crate::corpus;

#[test]
fn requests_of_the_corpus_find_their_skills() {
    let Some(queries) = corpus::queries() else { return };
    let files = corpus::files();
    let options =
        crate::metadata::ReadOptions { mode: crate::metadata::Mode::Lenient, ..Default::default() };
    let skills: Vec<_> = files
        .iter()
        .filter_map(|(path, bytes)| {
            let folder = path.rsplit('/').nth(1)?;
            let metadata = crate::metadata::Metadata::of_file(bytes, folder, &options).ok()?;
            let (_, body) = crate::frontmatter::split_whole(bytes, &options.limits).ok()?;
            // Beginnings tell enough, and take less time.
            let body = String::from_utf8_lossy(&bytes[body..]);
            Some((metadata, Words::of(basics::text::prefix(&body, 4_000))))
        })
        .collect();
    let documents: Vec<Document<'_>> = skills
        .iter()
        .map(|(metadata, _)| Document { name: &metadata.name, description: &metadata.description })
        .collect();
    let bodies: Vec<Option<&Words>> = skills.iter().map(|(_, words)| Some(words)).collect();
    let (index, bodies) = (SearchIndex::build(&documents, 0), SearchIndex::of_bodies(&bodies, 0));
    // How many requests find a skill that serves them first, among ten and among fifty.
    let found = |rank: &dyn Fn(&str) -> Vec<(usize, f32)>| {
        let mut found = [0; 3];
        for (query, relevant) in &queries {
            let serves = |(at, _): &(usize, f32)| relevant.iter().any(|n| n == documents[*at].name);
            let place = rank(query).iter().position(serves);
            for (found, within) in found.iter_mut().zip([1, 10, 50]) {
                *found += usize::from(place.is_some_and(|place| place < within));
            }
        }
        found
    };
    let alone = found(&|query| index.rank(query));
    let with_bodies = found(&|query| index.rank_with(&bodies, query));
    assert!(alone >= [17, 19, 21], "{alone:?} of {}", queries.len());
    assert!(with_bodies > alone, "{with_bodies:?}, without bodies {alone:?}");
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
