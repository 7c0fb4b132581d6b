//! What an exporter hands to the recorder, and whether the dashboard shows it.

mod recorded;

mod dashboard;
mod ring;
mod stages;
