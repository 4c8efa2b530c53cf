//! Lists of jobs of which some are in the archive.

use portcullis_jobs::{Event, JobStatus};
use portcullis_store::{DeliveryFilter, JobFilter, PipelineMatch};

use super::builders::{archive_all, counts, pipeline, single};
use crate::jobs::builders::{at, insert, run};
use crate::place::Place;

crate::on_both!(
    lists_of_jobs_are_the_same,
    lists_of_pipelines_and_deliveries_are_the_same,
);

const PROJECTS: [&str; 4] = ["a/p", "a/q", "b/p", "c"];

/// Jobs of all projects, of which every other one finished early or late.
fn fill(place: &Place) {
    run(&mut place.open(), |tx| {
        for number in 0..48_u64 {
            let project = PROJECTS[usize::try_from(number % 4).unwrap()];
            match number % 3 {
                0 => drop(insert(tx, project, &[Event::Enqueue])?),
                _ => drop(single(tx, project, 10 * (number * 7 % 13))?),
            }
            if number % 5 == 0 {
                pipeline(tx, project, 2, (number % 2 == 0).then_some(number))?;
            }
        }
        Ok(())
    });
}

fn lists_of_jobs_are_the_same(place: &Place) {
    fill(place);
    let statuses = [None, Some(JobStatus::Pending), Some(JobStatus::Canceled)];
    let projects = [None, Some("a/p"), Some("c")];
    let roots = [None, Some(vec!["a".to_owned(), "c".to_owned()])];
    let mut filters = Vec::new();
    for status in statuses {
        for project in projects {
            for roots in &roots {
                filters.push(JobFilter {
                    status,
                    project: project.map(str::to_owned),
                    roots: roots.clone(),
                });
            }
        }
    }
    let mut store = place.open();
    let mut all = |size: usize| -> Vec<Vec<(u64, JobStatus)>> {
        let list = |filter: &JobFilter| {
            let mut found: Vec<(u64, JobStatus)> = Vec::new();
            loop {
                let before = found.last().map(|(id, _)| *id);
                let page = store.read_jobs(|reader| reader.list_jobs(filter, before, size));
                let page = page.unwrap();
                assert!(page.len() <= size);
                let is_last = page.len() < size;
                found.extend(page.iter().map(|job| (job.id, job.state.status)));
                if is_last {
                    return found;
                }
            }
        };
        filters.iter().map(list).collect()
    };
    let whole = all(1000);
    assert!(whole[0].len() > 60);
    assert_eq!(all(7), whole);
    // The border moves through the list, which doesn't change.
    for border in [30, 60, 200] {
        archive_all(&mut place.open(), at(border));
        assert_eq!(all(1000), whole, "{border}");
        assert_eq!(all(7), whole, "{border}");
    }
    let [current, archived] = counts(place);
    assert!(current[1] > 10 && archived[1] > 30);
}

fn lists_of_pipelines_and_deliveries_are_the_same(place: &Place) {
    fill(place);
    let mut store = place.open();
    let mut all = |size: usize| {
        let mut found = Vec::new();
        for (project, name, change) in [
            ("a/p", None, None),
            ("b/p", Some("check"), Some("12,1")),
            ("b/p", Some("gate"), None),
        ] {
            let wanted = PipelineMatch {
                project,
                name,
                git_ref: Some("main"),
                change,
            };
            let mut before = None;
            loop {
                let page = store
                    .read_jobs(|reader| reader.list_pipelines(&wanted, before, size))
                    .unwrap();
                before = page.last().map(|one| one.id);
                found.extend(page.iter().map(|one| format!("{one:?}")));
                if page.len() < size {
                    break;
                }
            }
            let newest = store.read_jobs(|reader| reader.newest_pipeline(&wanted));
            found.push(format!("{:?}", newest.unwrap()));
        }
        for filter in [DeliveryFilter::All, DeliveryFilter::Controller(1)] {
            let mut before = None;
            loop {
                let page = store
                    .read_jobs(|reader| reader.list_deliveries(filter, before, size))
                    .unwrap();
                before = page.last().map(|one| one.id);
                found.extend(page.iter().map(|one| format!("{one:?}")));
                if page.len() < size {
                    break;
                }
            }
        }
        found
    };
    let whole = all(1000);
    assert_eq!(all(3), whole);
    for border in [30, 60, 200] {
        archive_all(&mut place.open(), at(border));
        assert_eq!(all(1000), whole, "{border}");
        assert_eq!(all(3), whole, "{border}");
    }
    assert!(counts(place)[1][0] > 3);
}
