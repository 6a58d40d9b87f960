//! The standard modules, written in CSL and embedded. Where a module is hardware or host, it reaches
//! it through `@fabsim_system`, which only these modules may use.

/// The text of `<name>`.
pub fn source(name: &str) -> Option<&'static str> {
    Some(match name {
        "memcpy/get_params" => include_str!("std/get_params.csl"),
        "memcpy/memcpy" => include_str!("std/memcpy.csl"),
        "memcpy/memcpy_switches" => include_str!("std/memcpy_switches.csl"),
        "control" => include_str!("std/control.csl"),
        "time" => include_str!("std/time.csl"),
        "timer" => include_str!("std/timer.csl"),
        "layout" => include_str!("std/layout.csl"),
        "directions" => include_str!("std/directions.csl"),
        "math" => include_str!("std/math.csl"),
        "collectives_2d/params" => include_str!("std/collectives_params.csl"),
        "collectives_2d/pe" => include_str!("std/collectives_pe.csl"),
        "complex" => include_str!("std/complex.csl"),
        "dsd_ops" => include_str!("std/dsd_ops.csl"),
        "kernels/tally/layout" => include_str!("std/tally_layout.csl"),
        "kernels/tally/pe" => include_str!("std/tally_pe.csl"),
        "malloc" => include_str!("std/malloc.csl"),
        "random" => include_str!("std/random.csl"),
        "debug" => include_str!("std/debug.csl"),
        "simprint" => include_str!("std/simprint.csl"),
        "empty" => "",
        _ => return None,
    })
}
