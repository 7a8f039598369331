//! Former names of parameters: a scenario file or a setting that has one is read as if it had the present name.

const FORMER: [(&str, &str); 2] = [("heedless", "ignores_loss"), ("rivals", "background")];

/// The present name of a parameter.
pub(super) fn present(name: &str) -> &str {
    FORMER.iter().find(|(former, _)| *former == name).map_or(name, |(_, present)| present)
}

#[cfg(test)]
mod tests {
    use crate::scenario::{Scenario, set_each};
    use crate::testing::STORES;

    #[test]
    fn a_setting_and_a_key_with_a_former_name_mean_the_present_one() {
        let scenario = |more: &str| {
            let text = format!("summary = 's'\n{more}\n[[fault]]\nkind = 'pause'");
            Scenario::parse("mine.toml", &text, STORES).unwrap()
        };
        let set = |setting: &str| {
            let mut scenario = scenario("");
            set_each(std::slice::from_mut(&mut scenario), &[setting.to_owned()]).unwrap();
            format!("{scenario:?}")
        };
        assert_eq!(set("rivals=1"), set("background=1"));
        assert_eq!(set("contend.rivals=1"), set("contend.background=1"));
        assert_ne!(set("rivals=1"), set("background=2"));
        let read = |text: &str| {
            format!("{:?}", scenario(text).settable().iter().map(|one| one.value).collect::<Vec<_>>())
        };
        assert_eq!(read("[contend]\nrivals = 1"), read("[contend]\nbackground = 1"));
    }
}
