//! What a run sees and what it cannot: the workspace through its private layer.

use std::fs;

use skillful_tools::sandbox::{Ending, Kernel};
use skillful_tools::view::ViewKind;

use crate::world::{World, said};

#[test]
fn what_is_written_goes_into_the_layer() {
    let world = World::new();
    let kernel = Kernel::detect();
    let before = world.snapshot();
    let view = world.view(&kernel);
    assert_eq!(view.kind(), ViewKind::Overlay, "{:?}", view.reason());
    let exit = world.run_in(&kernel, &view, "pwd; ls -la; cat data.csv; echo new > new.txt; echo more >> data.csv; rm -r other 2>/dev/null; ls -la / /dev /tmp; echo x > /tmp/y; mount; id; cat data.csv");
    println!("{}", said(&exit));
    assert_eq!(exit.ending, Ending::Exited(0), "{}", said(&exit));
    drop(before);
    assert_eq!(fs::read_to_string(world.root.join("workspace/data.csv")).unwrap().lines().count(), 3);
}

#[test]
fn timing() {
    let world = World::new();
    let kernel = Kernel::detect();
    let started = std::time::Instant::now();
    let view = world.view(&kernel);
    println!("open {:?}", started.elapsed());
    for _ in 0..3 {
        let started = std::time::Instant::now();
        for _ in 0..50 { world.run_in(&kernel, &view, "exit 0"); }
        println!("view {:?}", started.elapsed() / 50);
        let started = std::time::Instant::now();
        let invocation = world.invocation(std::path::Path::new("/bin/sh"), &["-c", "exit 0"]);
        for _ in 0..50 { world.run(&kernel, &world.confinement(skillful_tools::sandbox::Limits::default()), &invocation).unwrap(); }
        println!("plain {:?}", started.elapsed() / 50);
    }
}
