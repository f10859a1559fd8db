use super::*;
use crate::discover::{Discovery, DiscoveryOptions, Known, discover};
use crate::world::{World, bytes_read_by_this_thread};

fn discover_alone(world: &World) -> Discovery {
    let options = DiscoveryOptions { threads: 1, ..DiscoveryOptions::default() };
    discover(&world.path("root"), &options, &Known::new(), std::time::SystemTime::now()).0
}

#[test]
fn bodies_are_not_read() {
    const SKILLS: u64 = 20;
    let world = World::new();
    let body = "A line of a body that nobody asked for.\n".repeat(25_000);
    for at in 0..SKILLS {
        let start = format!("---\nname: s{at}\ndescription: What it does.\n---\n");
        world.write(&format!("root/s{at}/SKILL.md"), start + &body);
    }
    let before = bytes_read_by_this_thread();
    let discovery = discover_alone(&world);
    // Reading the counter is itself counted.
    let counter = 1_000;
    let read = bytes_read_by_this_thread() - before;
    assert_eq!(discovery.found.len() as u64, SKILLS);
    assert!(discovery.bytes_read <= SKILLS * FIRST_BLOCK as u64, "{} bytes", discovery.bytes_read);
    assert!(
        (discovery.bytes_read..discovery.bytes_read + counter).contains(&read),
        "{read} bytes in truth"
    );
}

#[test]
fn a_file_that_never_closes_its_frontmatter_is_not_read_to_its_end() {
    const SIZE: u64 = 1 << 30;
    for start in ["---\n", "---\nname: a\ndescription: ", "---", "---\n---", "", "# Title\n"] {
        let world = World::new();
        world.hollow("root/a/SKILL.md", start, SIZE);
        let discovery = discover_alone(&world);
        assert!(discovery.found.is_empty());
        assert_eq!(discovery.ignored.len(), 1, "`{start}`");
        assert!(discovery.bytes_read <= 32_000, "`{start}`: {} bytes", discovery.bytes_read);
    }
}

#[test]
fn the_end_of_a_block_may_fall_anywhere() {
    let world = World::new();
    let lengths =
        (FIRST_BLOCK - 60..FIRST_BLOCK + 60).chain(FIRST_BLOCK * 2 - 60..FIRST_BLOCK * 2 + 60);
    for length in lengths.clone() {
        let start = "---\nname: a\ndescription: b\n";
        // Lines of comments in two-byte characters, so that blocks end within one, too.
        let filler = "#é\n".repeat(length / 4 - 20) + &"#".repeat(length % 4 + 20) + "\n";
        world.write(&format!("root/s{length}/SKILL.md"), format!("{start}{filler}---"));
    }
    let options = ReadOptions {
        limits: Limits { lines: 2_000, ..Limits::default() },
        ..ReadOptions::default()
    };
    for length in lengths {
        let file = File::open(world.path(&format!("root/s{length}/SKILL.md"))).unwrap();
        let (bytes_read, metadata) = read(file, "a", &options);
        let metadata = metadata.unwrap_or_else(|problem| panic!("{length}: {problem}"));
        assert_eq!((metadata.name.as_str(), metadata.description.as_str()), ("a", "b"));
        assert!(bytes_read > 0);
    }
}
