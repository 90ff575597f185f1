//! Counters of single processes, and a list of all of them.

use kernmark_model::counters::{ProcessCounters, ProcessTimes, Processes};

use crate::machine::{Reading, Root};

/// Bit of the flags in `/proc/PID/stat` that marks a thread of the kernel (PF_KTHREAD).
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Counters of one process (`self` or a number); `None` if it is gone.
pub(super) fn counters(reading: &mut Reading<'_>, process: &str) -> Option<ProcessCounters> {
    let stat = Stat::read(reading, process)?;
    let io = reading
        .counts(&format!("/proc/{process}/io"))
        .unwrap_or_default();
    let io = |name: &str| io.get(name).copied();
    let schedule = reading
        .word(&format!("/proc/{process}/schedstat"))
        .unwrap_or_default();
    let schedule: Vec<Option<u64>> = schedule
        .split_whitespace()
        .map(|word| word.parse().ok())
        .collect();
    let schedule = |position: usize| schedule.get(position).copied().flatten();
    Some(ProcessCounters {
        start_ticks: stat.field(22),
        read_call_bytes: io("rchar"),
        write_call_bytes: io("wchar"),
        read_calls: io("syscr"),
        write_calls: io("syscw"),
        device_read_bytes: io("read_bytes"),
        device_write_bytes: io("write_bytes"),
        cancelled_write_bytes: io("cancelled_write_bytes"),
        minor_faults: stat.field(10),
        major_faults: stat.field(12),
        user_ticks: stat.field(14),
        system_ticks: stat.field(15),
        children_user_ticks: stat.field(16),
        children_system_ticks: stat.field(17),
        block_delay_ticks: stat.field(42),
        run_nanos: schedule(0),
        wait_nanos: schedule(1),
        timeslices: schedule(2),
    })
}

/// All processes now, for [`SharedCpu::between`]; a file for each, so for the ends of a phase only.
///
/// [`SharedCpu::between`]: kernmark_model::counters::SharedCpu::between
pub fn processes(root: &Root) -> Processes {
    let mut reading = Reading::new(root);
    let numbers = root.numbered::<i32>("/proc", "").into_iter();
    let found = numbers.filter_map(|number| {
        // Between the listing and this read a process may have ended.
        let stat = Stat::read(&mut reading, &number.to_string())?;
        let ticks = |field| stat.field(field).unwrap_or(0);
        let times = ProcessTimes {
            parent: i32::try_from(stat.field(4)?).ok()?,
            kernel_thread: stat.field(9)? & KERNEL_THREAD != 0,
            start_ticks: stat.field(22)?,
            own_ticks: ticks(14).saturating_add(ticks(15)),
            children_ticks: ticks(16).saturating_add(ticks(17)),
            name: stat.name,
        };
        Some((number, times))
    });
    found.collect()
}

/// `/proc/PID/stat`: number, name in brackets, then fields apart by spaces.
struct Stat {
    name: String,
    /// From the third field on.
    fields: Vec<Option<u64>>,
}

impl Stat {
    fn read(reading: &mut Reading<'_>, process: &str) -> Option<Self> {
        let path = format!("/proc/{process}/stat");
        let text = reading.text(&path)?;
        // A program chooses its name, brackets and spaces included: the last bracket ends it.
        let parts = text
            .split_once('(')
            .and_then(|(_, rest)| rest.rsplit_once(')'));
        let Some((name, fields)) = parts else {
            if !text.is_empty() {
                reading.note(&path, Some(1), "name", "no name in brackets");
            }
            return None;
        };
        Some(Self {
            name: name.to_owned(),
            // The state is a letter and some fields are negative: neither is asked for.
            fields: fields
                .split_whitespace()
                .map(|word| word.parse().ok())
                .collect(),
        })
    }

    /// A field by its number in the manual page (proc_pid_stat(5)), which counts from 1.
    fn field(&self, number: usize) -> Option<u64> {
        self.fields.get(number.checked_sub(3)?).copied().flatten()
    }
}
