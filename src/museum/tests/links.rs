//! Links and special files: in the folder of a bug, and in the directory for packages.

use std::fs;
use std::os::unix::fs::symlink;

use rustix::fs::{CWD, FileType, mknodat};

use super::support::{Place, described};
use crate::museum::{FetchError, write_locked};

#[test]
fn a_link_in_a_folder_is_refused_and_a_pipe_is_not_waited_for() {
    for name in ["lock.py", "bug.toml", "locked.toml", "notes.txt"] {
        let place = Place::new();
        let folder = place.folder("kazoo-649", "mine");
        let _ = fs::remove_file(folder.join(name));
        symlink(place.path("around/one"), folder.join(name)).unwrap();
        let error = described(&folder).unwrap_err().to_string();
        assert!(
            error.ends_with(&format!("mine/{name}: it is a link: put a copy of the file in its place")),
            "{error}"
        );
        fs::remove_file(folder.join(name)).unwrap();
        mknodat(CWD, folder.join(name), FileType::Fifo, 0o600.into(), 0).unwrap();
        let error = described(&folder).unwrap_err().to_string();
        assert!(error.contains("it is no regular file"), "{error}");
    }
}

#[test]
fn a_folder_has_few_files_and_none_is_large() {
    let place = Place::new();
    let folder = place.folder("kazoo-649", "mine");
    fs::write(folder.join("large.txt"), vec![b'x'; (1 << 20) + 1]).unwrap();
    let error = described(&folder).unwrap_err().to_string();
    assert!(error.ends_with("large.txt: the file has more than 1024 KiB"), "{error}");
    fs::remove_file(folder.join("large.txt")).unwrap();
    (0..300).for_each(|number| fs::write(folder.join(format!("{number}.txt")), "").unwrap());
    let error = described(&folder).unwrap_err().to_string();
    assert!(error.contains("the folder has more than 200 files"), "{error}");
}

#[test]
fn hidden_files_and_folders_do_not_belong_to_a_bug() {
    let place = Place::new();
    let folder = place.folder("kazoo-649", "mine");
    let plain = described(&folder).unwrap().0.files;
    fs::write(folder.join(".npmrc"), "ignore-scripts=false").unwrap();
    fs::create_dir(folder.join("more")).unwrap();
    fs::write(folder.join("more/x.py"), "").unwrap();
    assert_eq!(described(&folder).unwrap().0.files, plain);
}

#[test]
fn a_link_in_the_directory_for_packages_is_not_followed_and_not_removed_through() {
    for link in ["cache/mine", "cache/mine/v4.12.0"] {
        let place = Place::new();
        let folder = place.folder("redsync-151", "mine");
        fs::create_dir_all(place.path(link).parent().unwrap()).unwrap();
        symlink(place.path("around/kept"), place.path(link)).unwrap();
        let around = place.around();
        let error = place.fetch(&folder).unwrap_err();
        assert!(matches!(error, FetchError::Foreign { .. }) && error.is_refusal(), "{error}");
        assert!(error.to_string().contains(&format!("{link}: it is a link")), "{error}");
        assert_eq!(place.around(), around);
        assert_eq!(place.calls(), "");
    }
}

#[test]
fn links_in_a_version_are_removed_and_their_targets_stay() {
    let place = Place::new();
    let folder = place.folder("redsync-151", "mine");
    let fetched = place.fetch(&folder).unwrap().remove(0);
    let stamp = fs::read_to_string(fetched.join("bug.toml")).unwrap();
    // A right stamp by a link, an adapter that is a link, and a link to a directory.
    fs::write(place.path("around/stamp"), &stamp).unwrap();
    for (file, target) in [("bug.toml", "around/stamp"), ("main.go", "around/one"), ("more", "around/kept")] {
        let _ = fs::remove_file(fetched.join(file));
        symlink(place.path(target), fetched.join(file)).unwrap();
    }
    let around = place.around();
    place.fetch(&folder).unwrap();
    assert_eq!(place.around(), around);
    assert!(fs::symlink_metadata(fetched.join("bug.toml")).unwrap().is_file());
    assert!(!fetched.join("more").exists());
}

#[test]
fn a_directory_for_packages_may_be_the_users_own_link() {
    let place = Place::new();
    fs::create_dir(place.path("elsewhere")).unwrap();
    symlink(place.path("elsewhere"), place.path("cache")).unwrap();
    let fetched = place.fetch(&place.folder("redsync-151", "mine")).unwrap();
    assert!(fetched[0].ends_with("elsewhere/mine/v4.12.0"), "{fetched:?}");
}

#[test]
fn locked_packages_are_written_in_place_of_a_link() {
    let place = Place::new();
    let folder = place.folder("redsync-151", "mine");
    fs::remove_file(folder.join("locked.toml")).unwrap();
    symlink(place.path("around/one"), folder.join("locked.toml")).unwrap();
    write_locked(&folder, "text").unwrap();
    assert_eq!(fs::read_to_string(place.path("around/one")).unwrap(), "around/one");
    assert_eq!(fs::read_to_string(folder.join("locked.toml")).unwrap(), "text");
}
