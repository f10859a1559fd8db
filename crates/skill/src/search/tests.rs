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
        println!("{relevant:?} {place:?}");
        first += usize::from(place == Some(0));
        ten += usize::from(place.is_some_and(|p| p < 10));
        fifty += usize::from(place.is_some_and(|p| p < 50));
    }
    println!("hit@1 {first} hit@10 {ten} hit@50 {fifty} of {}", queries.len());
}
