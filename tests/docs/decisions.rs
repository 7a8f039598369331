//! The list of decisions has each record once, with its title and its status.

use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn the_list_of_decisions_has_each_record_with_its_title_and_status() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/decisions");
    let mut records = BTreeMap::new();
    for entry in std::fs::read_dir(&directory).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        if file == "README.md" {
            continue;
        }
        let text = std::fs::read_to_string(directory.join(&file)).unwrap();
        let number = &file[..4];
        let title = text.strip_prefix(&format!("# {number}: ")).and_then(|rest| rest.lines().next());
        let status = text.lines().find_map(|line| line.strip_prefix("Status: ")?.split_once(". Date: "));
        let (Some(title), Some((status, _))) = (title, status) else {
            panic!("docs/decisions/{file} has no title `# {number}: ..` or no line `Status: .. Date: ..`");
        };
        records.insert(format!("[{number}]({file})"), (title.to_owned(), status.to_owned()));
    }
    let list = std::fs::read_to_string(directory.join("README.md")).unwrap();
    let mut listed = BTreeMap::new();
    for line in list.lines().filter(|line| line.starts_with("| [")) {
        let cells: Vec<&str> = line.trim_matches(['|', ' ']).split(" | ").collect();
        let [record, title, status] = cells[..] else { panic!("docs/decisions/README.md: `{line}`") };
        let before = listed.insert(record.to_owned(), (title.to_owned(), status.to_owned()));
        assert_eq!(before, None, "docs/decisions/README.md lists {record} twice");
    }
    assert_eq!(listed, records, "docs/decisions/README.md has another list than there are records");
}
