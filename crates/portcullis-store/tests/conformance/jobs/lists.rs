//! Lists of jobs.

use portcullis_jobs::{Event, JobStatus};
use portcullis_store::{JobFilter, Store};

use super::builders::{insert, run};
use crate::place::Place;

crate::on_both!(lists_give_what_a_filter_means, pages_follow_each_other);

const PROJECTS: [&str; 5] = ["a/p", "a/q", "a/b/p", "b/p", "c"];

/// Jobs of all projects in some states; gives project and status of each, by id from 1.
fn fill(store: &mut Store) -> Vec<(&'static str, JobStatus)> {
    let histories: [(&[Event], JobStatus); 4] = [
        (&[], JobStatus::Created),
        (&[Event::Enqueue], JobStatus::Pending),
        (&[Event::Cancel], JobStatus::Canceled),
        (&[Event::Skip], JobStatus::Skipped),
    ];
    let mut all = Vec::new();
    run(store, |tx| {
        for number in 0..40 {
            let project = PROJECTS[number % 5];
            let (events, status) = histories[number % 4];
            insert(tx, project, events)?;
            all.push((project, status));
        }
        Ok(())
    });
    all
}

fn lists_give_what_a_filter_means(place: &Place) {
    let mut store = place.open();
    let all = fill(&mut store);
    let roots: [Option<&[&str]>; 5] = [
        None,
        Some(&[]),
        Some(&["a"]),
        Some(&["b", "a", "a"]),
        Some(&["x", "c"]),
    ];
    let statuses = [None, Some(JobStatus::Pending), Some(JobStatus::Failed)];
    let projects = [None, Some("a/p"), Some("c"), Some("a")];
    for roots in roots {
        for status in statuses {
            for project in projects {
                let filter = JobFilter {
                    status,
                    project: project.map(str::to_owned),
                    roots: roots.map(|roots| roots.iter().map(ToString::to_string).collect()),
                };
                let fits = |(path, found): &(&str, JobStatus)| {
                    let root = path.split('/').next().unwrap();
                    status.is_none_or(|status| status == *found)
                        && project.is_none_or(|project| project == *path)
                        && roots.is_none_or(|roots| roots.contains(&root))
                };
                let wanted = (1..).zip(&all).filter(|(_, job)| fits(job));
                let mut wanted: Vec<u64> = wanted.map(|(id, _)| id).collect();
                wanted.reverse();
                let found = run(&mut store, |tx| tx.list_jobs(&filter, None, 100));
                let found: Vec<u64> = found.into_iter().map(|job| job.id).collect();
                assert_eq!(found, wanted, "{filter:?}");
            }
        }
    }
}

fn pages_follow_each_other(place: &Place) {
    let mut store = place.open();
    fill(&mut store);
    for filter in [
        JobFilter::default(),
        JobFilter {
            project: Some("a/b/p".into()),
            ..JobFilter::default()
        },
        JobFilter {
            roots: Some(vec!["a".into(), "b".into()]),
            ..JobFilter::default()
        },
    ] {
        let whole = run(&mut store, |tx| tx.list_jobs(&filter, None, 1000));
        let mut paged = Vec::new();
        loop {
            let before = paged.last().map(|job: &portcullis_store::JobRecord| job.id);
            let page = run(&mut store, |tx| tx.list_jobs(&filter, before, 3));
            assert!(page.len() <= 3);
            if page.is_empty() {
                break;
            }
            paged.extend(page);
        }
        assert_eq!(paged, whole);
    }
}
